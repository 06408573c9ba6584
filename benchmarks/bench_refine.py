"""Heuristic placement beside the optimum: what refinement takes, and how far its plans are from the cheapest."""

import numpy as np

from benchmarks.table import Report, readable
from polycast.model.problem import Problem
from polycast.place import solve

ROUNDS = 500
BROKERS, FORMATS = 1024, 16
METHODS: dict[str, dict[str, object]] = {
    "all-in-root": {},
    "all-in-leaves": {},
    "single-format": {},
    "multilayer": {},
    "refine": {},
    "refine --select random": {"select": "random"},
    "refine --depth 2": {"depth": 2},
    "refine --depth 3": {"depth": 3},
    "refine --start reduced": {"start": "reduced"},
    "refine --start reduced --depth 2": {"start": "reduced", "depth": 2},
}


def main() -> None:
    problems = [unlike_brokers(seed) for seed in range(5)]
    optima = [solve(problem, "exact").plan.cost.total for problem in problems]
    title = f"Heuristics, {FORMATS} formats x {BROKERS} unlike brokers, {ROUNDS} rounds, {len(problems)} problems"
    report = Report(title)
    for name, options in METHODS.items():
        add(report, name, problems, optima, options)
    report.show()


def add(
    report: Report, name: str, problems: list[Problem], optima: list[float], options: dict[str, object]
) -> None:
    """The method's least time on each problem, the worst of these, and the mean distance from the optimum."""
    times, above = [], []
    for problem, optimum in zip(problems, optima, strict=True):
        runs = [
            solve(problem, name.split()[0], iterations=ROUNDS, history=True, **options)  # type: ignore[arg-type]
            for _ in range(3)
        ]
        times.append(min(run.seconds for run in runs))
        above.append(runs[0].plan.cost.total / optimum - 1)
    measured = f"{readable(max(times))}, {np.mean(above):.1%} above the optimum (worst {max(above):.1%})"
    goal, met = ("<= 1 s", max(times) <= 1.0) if name == "refine" else ("", None)
    report.add(name, goal, measured, met)


def unlike_brokers(seed: int) -> Problem:
    """A dense graph of random costs; a random tree, each broker wanting up to a quarter of the formats."""
    rng = np.random.default_rng(seed)
    conversion = rng.uniform(1.0, 60.0, (FORMATS, FORMATS))
    np.fill_diagonal(conversion, np.inf)
    wants = np.where(rng.random(BROKERS) < 0.5, rng.integers(1, FORMATS // 4 + 1, BROKERS), 0)
    chosen = [rng.choice(FORMATS, count, replace=False) for count in wants]
    return Problem(
        size=rng.uniform(1.0, 30.0, FORMATS),
        conversion=conversion,
        parent=np.array([-1, *(rng.integers(0, i) for i in range(1, BROKERS))], np.int32),
        link_cost=rng.uniform(0.5, 2.0, BROKERS),
        compute_cost=rng.uniform(0.5, 2.0, BROKERS),
        want_start=np.concatenate(([0], np.cumsum(wants))),
        choice_start=np.arange(wants.sum() + 1),
        choice_format=np.concatenate(chosen).astype(np.int32),
        choice_penalty=np.zeros(wants.sum()),
    )


if __name__ == "__main__":
    main()
