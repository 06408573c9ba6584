import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.model.problem import Problem
from polycast.place import solve
from polycast.place.arrays import arrays_of, parts_of, plan_of_parts
from polycast.place.ledger import ledger_of
from polycast.place.refine import STARTS, refine_rounds, start_plan
from tests.problems import random_problem


def some_problem(seed: int, brokers: int = 40, formats: int = 6) -> Problem:
    rng = np.random.default_rng(seed)
    return random_problem(
        rng,
        brokers,
        formats,
        density=1.0,
        unsendable=float(rng.choice([0.0, 0.1])),
        alternatives=float(rng.choice([0.0, 0.5])),
        whole=bool(rng.integers(2)),
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_after_every_round_the_plan_is_valid_and_the_ledger_true(seed: int, depth: int, random: bool) -> None:
    problem = some_problem(seed)
    start = start_plan(problem, "best")
    arrays, parts, ledger = arrays_of(problem), parts_of(start), ledger_of(start, depth)
    picks = np.random.default_rng(seed).integers(problem.brokers, size=60).astype(np.int32)
    before = start.cost.total
    for pick in picks:
        for cost in refine_rounds(arrays, parts, ledger, np.array([pick if random else -1], np.int32)):
            plan = plan_of_parts(problem, parts)
            assert plan.fault() is None
            assert plan.cost.total == pytest.approx(cost, rel=1e-9, abs=1e-9)
            assert cost <= before
            before = cost
    anew = ledger_of(plan_of_parts(problem, parts), depth)
    for kept, true in zip(ledger[1:4], anew[1:4], strict=True):
        assert kept == pytest.approx(true, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_never_worse_than_its_start(start: str, depth: int) -> None:
    for seed in range(20):
        problem = some_problem(seed).replace(size=np.arange(1.0, 7.0))
        solution = solve(problem, "refine", start=start, depth=depth, iterations=30)
        assert solution.plan.cost.total <= solve(problem, start).plan.cost.total


def test_slack_and_random_end_at_comparable_costs() -> None:
    ratios = []
    for seed in range(20):
        problem = some_problem(seed, brokers=60)
        slack, random = (
            solve(problem, "refine", select=select, iterations=3000).plan.cost.total
            for select in ("slack", "random")
        )
        ratios.append(slack / random)
    assert 0.97 < np.mean(ratios) < 1.03


def test_slack_ends_when_no_region_has_changed_since_it_was_refined() -> None:
    problem = some_problem(1)
    few, many = (solve(problem, "refine", iterations=n, history=True) for n in (500, 100_000))
    assert few.plan.cost == many.plan.cost
    assert many.history is not None
    assert len(many.history) == 100_000
    again = solve(problem, "refine", iterations=100, select="random").plan.cost.total
    assert again >= few.plan.cost.total * 0.9


def test_random_rounds_do_not_depend_on_how_they_are_sliced() -> None:
    problem = some_problem(2, brokers=200)
    whole = solve(problem, "refine", select="random", iterations=400, seed=1, history=True)
    start = start_plan(problem, "best")
    arrays, parts, ledger = arrays_of(problem), parts_of(start), ledger_of(start, 1)
    rng, history = np.random.default_rng(1), []
    for rounds in (1, 3, 396):
        picks = rng.integers(problem.brokers, size=rounds).astype(np.int32)
        history.extend(refine_rounds(arrays, parts, ledger, picks).tolist())
    assert whole.history == tuple(history)


def test_the_history_falls_from_the_start_to_the_end() -> None:
    problem = some_problem(3, brokers=200)
    solution = solve(problem, "refine", iterations=150, history=True)
    assert solution.history is not None
    assert len(solution.history) == 150
    assert list(solution.history) == sorted(solution.history, reverse=True)
    assert solution.history[-1] == pytest.approx(solution.plan.cost.total, rel=1e-12)
    assert solution.history[0] <= start_plan(problem, "best").cost.total
    assert solve(problem, "refine", iterations=0, history=True).history == ()


def test_deeper_regions_find_more() -> None:
    costs = [
        sum(solve(some_problem(seed), "refine", depth=depth).plan.cost.total for seed in range(20))
        for depth in (1, 2, 3)
    ]
    assert costs[0] > costs[1]
    assert costs[0] > costs[2]
