"""Exact placement against its goals, and against an integer program in HiGHS."""

import subprocess
import sys

import numpy as np

from benchmarks.placements import unlike_brokers
from benchmarks.table import Report, once, readable, seconds
from polycast.model.problem import Problem
from polycast.place import solve
from polycast.place.arrays import useful_operators
from polycast.place.warm import warm
from tests.oracles.placement import integer_program_of

RATIOS = (0.1, 0.3, 0.5, 0.7)
MEGABYTE = 1 << 20


def main() -> None:
    warm(["exact"])
    report = Report("Exact placement (one core, warm; the least of several runs)")
    report.add_time("4 formats × 1,024 unlike brokers", 0.5e-3, _exact(unlike_brokers(4, 1024, most=2), 200))
    _sixteen(report)
    _twenty(report)
    report.add_time(
        "8 formats × 100,000 brokers, from arrays", 0.25, _exact(unlike_brokers(8, 100_000, most=2), 5)
    )
    _against_highs(report)
    report.show()


def _exact(problem: Problem, repeat: int) -> float:
    return seconds(lambda: solve(problem, "exact"), repeat)


def _sixteen(report: Report) -> None:
    for ratio in RATIOS:
        taken = _exact(unlike_brokers(16, 1024, most=4, ratio=ratio), 5)
        work = f"16 formats × 1,024, up to 4 wants, {ratio:.0%} match"
        report.add(work, "<= 100 ms (least: 250 ms)", readable(taken), taken <= 0.1)
    peak = _peak(16, 4)
    report.add("  memory above the interpreter", "<= 300 MB", f"{peak:.0f} MB", peak <= 300)


def _twenty(report: Report) -> None:
    report.add_time("20 formats × 1,024, up to 5 wants", 5.0, _exact(unlike_brokers(20, 1024, most=5), 2))
    peak = _peak(20, 5)
    report.add("  memory above the interpreter", "<= 2 GB", f"{peak:.0f} MB", peak <= 2048)


def _peak(formats: int, most: int) -> float:
    """How many megabytes a process that solves this needs, above one that only starts Python."""
    solving = f"from benchmarks.bench_exact import solve_once; solve_once({formats}, {most})"
    return (_resident(solving) - _resident("")) / MEGABYTE


def solve_once(formats: int, most: int) -> None:
    solve(unlike_brokers(formats, 1024, most=most), "exact")


def _resident(program: str) -> float:
    """The most bytes that a Python process ever holds in memory while it runs a program (Linux only)."""
    telling = "\nprint(open('/proc/self/status').read())"
    answer = subprocess.run([sys.executable, "-c", program + telling], check=True, capture_output=True, text=True)
    return 1024.0 * next(float(line.split()[1]) for line in answer.stdout.splitlines() if "VmHWM" in line)


def _against_highs(report: Report) -> None:
    """The program has one flow from the root to each want in the multilayer graph.

    Operators that a chain of others undercuts are left out, which only helps HiGHS; and only the time that it
    takes to solve the program is counted, not that of stating it.
    """
    problem = unlike_brokers(16, 64, most=4)
    ours = _exact(problem, 20)
    model = integer_program_of(_without_useless_operators(problem))
    highs = once(model.run)
    cost = solve(problem, "exact").plan.cost.total
    equal = bool(np.isclose(model.getInfo().objective_function_value, cost, rtol=1e-6))
    report.add(
        "16 formats × 64: times faster than HiGHS, equal cost",
        ">= 100",
        f"{highs / ours:.0f} ({readable(highs)} : {readable(ours)}), {'equal' if equal else 'NOT equal'}",
        highs / ours >= 100 and equal,
    )


def _without_useless_operators(problem: Problem) -> Problem:
    conversion = np.full_like(problem.conversion, np.inf)
    useful = useful_operators(problem)
    conversion[useful] = problem.conversion[useful]
    return problem.replace(conversion=conversion)


if __name__ == "__main__":
    main()
