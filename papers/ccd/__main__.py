"""``python -m papers.ccd``: the experiments of CCD, their tables and their pictures."""

import sys
from pathlib import Path

from papers.ccd.experiments import carry_out_one
from papers.ccd.parameters import RUNS, runs
from papers.ccd.report import report
from papers.experiment import arguments, carry_out, journal_in

RESULTS = Path(__file__).parent / "results"
QUICK_RATIOS = (10, 50)


def main() -> int:
    given = arguments(
        "CCD again: savings, quality, initial plans, selection, trees, heterogeneity.", RESULTS, RUNS
    )
    journal = journal_in(given.out, given.fresh)
    planned = runs(1, QUICK_RATIOS, slow=False) if given.quick else runs(given.runs)
    try:
        carry_out(planned, carry_out_one, journal, given.jobs)
    except KeyboardInterrupt:
        print("stopped; what is done is in the report, and the same command goes on from here", file=sys.stderr)
        report(journal, given.out)
        return 130
    report(journal, given.out)
    print(f"tables and pictures are in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
