"""Placement on content graphs too large for the exact recursion: how far, at most, plans are from the best."""

import time

from benchmarks.placements import unlike_brokers
from benchmarks.table import Report
from polycast.model.problem import Problem
from polycast.place import solve
from polycast.place.warm import warm

FORMATS, BROKERS, MOST = 64, 1024, 8
GOALS = {5.0: 0.05, 60.0: 0.01}
SEEDS = (1, 2, 3, 4)


def main() -> None:
    warm(["auto"])
    report = Report(f"auto on {FORMATS} formats (dense graph) x {BROKERS} unlike brokers, up to {MOST} wants")
    for seed in SEEDS:
        problem = unlike_brokers(FORMATS, BROKERS, most=MOST, seed=seed)
        for limit, goal in GOALS.items():
            _add(report, problem, seed, limit, goal)
    report.show()


def _add(report: Report, problem: Problem, seed: int, limit: float, goal: float) -> None:
    """The proved gap; and how much of the time the machine gave us, as others may be busy on it."""
    used = time.process_time()
    solution = solve(problem, "auto", time_limit=limit)
    used = time.process_time() - used
    measured = f"{solution.gap:.2%} in {solution.seconds:.1f} s, {used:.1f} s of them ours"
    report.add(
        f"problem {seed}: proved gap within {limit:.0f} s", f"<= {goal:.0%}", measured, solution.gap <= goal
    )


if __name__ == "__main__":
    main()
