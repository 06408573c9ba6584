"""``python -m papers.ccd``: the experiments of CCD, their tables and their pictures."""

import sys
from pathlib import Path

from papers.ccd.experiments import carry_out_one
from papers.ccd.parameters import RUNS, quick_runs, runs
from papers.ccd.report import report
from papers.ccd.tables import tables
from papers.experiment import Experiments, main

PAPER = Experiments(
    "CCD again: savings, quality, initial plans, selection, trees, heterogeneity.",
    Path(__file__).parent / "results",
    runs,
    quick_runs,
    carry_out_one,
    report,
    tables,
)

if __name__ == "__main__":
    sys.exit(main(PAPER, RUNS))
