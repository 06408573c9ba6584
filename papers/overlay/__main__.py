"""``python -m papers.overlay``: the experiments of Zhao and Wu, their tables and their pictures."""

import sys
from pathlib import Path

from papers.experiment import Experiments, main
from papers.overlay.experiments import carry_out_one
from papers.overlay.parameters import RUNS, quick_runs, runs
from papers.overlay.report import report
from papers.overlay.tables import tables

PAPER = Experiments(
    "Minimum cost overlays again: cost reduction ratios, running times, and what they depend on.",
    Path(__file__).parent / "results",
    runs,
    quick_runs,
    carry_out_one,
    report,
    tables,
)

if __name__ == "__main__":
    sys.exit(main(PAPER, RUNS))
