"""The bound from shared costs: always a bound, seldom far from the optimum, and never below where it began."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.model.problem import Problem
from polycast.place import Search, solve
from polycast.place.arrays import Arrays, arrays_of, blank_parts
from polycast.place.dual_ascent import ascend, begin_ascent
from polycast.place.large import large
from polycast.place.region import Region, region_of
from polycast.place.shares import (
    Shares,
    bound_of,
    columns_of,
    find_ways,
    offer_more,
    places_of,
    settle,
    shares_of,
    unpaid,
)
from tests.oracles.placement import integer_program
from tests.problems import random_problem


def after_ascent(problem: Problem) -> tuple[Arrays, Shares, Region, float]:
    """The shares that dual ascent leaves, and its bound."""
    arrays = arrays_of(problem)
    region = region_of(arrays, blank_parts(problem), problem.root, problem.brokers)
    shares = shares_of(arrays)
    ascent = begin_ascent(region.graph, region.root, region.terminals)._replace(
        account=shares.paid,
        column=columns_of(arrays, shares, region),
        place=places_of(arrays, shares, region),
    )
    assert ascend(region.graph, region.root, region.terminals, ascent, np.inf)
    return arrays, shares, region, float(ascent.bound[0])


def odd_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    return random_problem(
        rng,
        int(rng.integers(1, 20)),
        int(rng.integers(2, 10)),
        density=0.7,
        unsendable=float(rng.choice([0.0, 0.3])),
        alternatives=float(rng.choice([0.0, 0.5])),
        whole=bool(rng.integers(2)),
    )


def feasible(problem: Problem) -> float | None:
    try:
        return solve(problem, "exact").plan.cost.total
    except NoSolution:
        return None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_dual_ascent_is_worth_its_bound_in_shares(seed: int) -> None:
    problem = odd_problem(seed)
    if feasible(problem) is None:
        return
    arrays, shares, _, bound = after_ascent(problem)
    assert find_ways(arrays, shares) == pytest.approx(bound, rel=1e-4, abs=1e-4)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_no_bound_exceeds_the_optimum_however_large_the_steps(seed: int) -> None:
    problem = odd_problem(seed)
    optimum = feasible(problem)
    if optimum is None:
        return
    arrays, shares, _, _ = after_ascent(problem)
    for pace in np.random.default_rng(seed).uniform(0.0, 3.0, 20):
        assert bound_of(arrays, shares, find_ways(arrays, shares)) <= optimum
        offer_more(arrays, shares, float(pace))
        settle(arrays, shares)
        assert (shares.paid >= 0).all()


def test_shares_that_were_never_settled_are_no_bound_but_for_what_is_overpaid() -> None:
    problem = odd_problem(7)
    optimum = feasible(problem)
    assert optimum is not None
    arrays, shares, _, _ = after_ascent(problem)
    for _ in range(10):
        find_ways(arrays, shares)
        offer_more(arrays, shares, 1.0)
    ways = find_ways(arrays, shares)
    assert ways > optimum
    assert bound_of(arrays, shares, ways) <= optimum


def test_steps_close_a_good_part_of_what_dual_ascent_leaves_open() -> None:
    left, closed = 0.0, 0.0
    for seed in range(3):
        problem = random_problem(np.random.default_rng(seed), 60, 10, density=1.0, most_wants=4)
        optimum = solve(problem, "exact").plan.cost.total
        arrays, shares, _, bound = after_ascent(problem)
        best, pace = bound, 1.0
        for _ in range(200):
            best, pace = max(best, bound_of(arrays, shares, find_ways(arrays, shares))), pace * 0.98
            offer_more(arrays, shares, pace)
            settle(arrays, shares)
        left += optimum - bound
        closed += best - bound
    assert closed > left / 3


def test_all_that_is_left_unpaid_is_a_part_of_the_weight() -> None:
    problem = odd_problem(7)
    arrays, shares, region, _ = after_ascent(problem)
    part = unpaid(arrays, shares, region, columns_of(arrays, shares, region))
    assert ((part >= 0) & (part <= 1)).all()


def test_too_large_for_shares_still_gives_a_plan_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(1), 6, 24, density=0.3)
    optimum = integer_program(problem)
    monkeypatch.setattr("polycast.place.large.MOST_SHARES", 10)
    search = Search(problem)
    large(search)
    assert search.lower_bound <= optimum * (1 + 1e-9)
    assert search.plan.fault() is None
