"""What every placement method must be able to do; the methods come from ``METHODS``."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.model.problem import Problem
from polycast.place import METHODS, solve
from tests.checks import check_placement
from tests.oracles.placement import algorithm_1
from tests.problems import random_problem

# Methods that cannot express some problems, and then say so.
NARROW = {"all-in-leaves", "single-format"}


def odd_problem(seed: int, brokers: int, formats: int) -> Problem:
    """Everything that is allowed, mixed at random."""
    rng = np.random.default_rng(seed)
    return random_problem(
        rng,
        int(rng.integers(1, brokers + 1)),
        int(rng.integers(2, formats + 1)),
        density=float(rng.choice([0.3, 0.7, 1.0])),
        unsendable=float(rng.choice([0.0, 0.3])),
        alternatives=float(rng.choice([0.0, 0.5])),
        whole=bool(rng.integers(2)),
    )


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_plans_are_valid_and_bounds_are_bounds(method: str, seed: int) -> None:
    problem = odd_problem(seed, 5, 4)
    optimum = algorithm_1(problem)
    if optimum == np.inf:
        with pytest.raises(NoSolution):
            solve(problem, method)
        return
    try:
        check_placement(problem, solve(problem, method), optimum)
    except NoSolution:
        assert method in NARROW


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_answer(method: str) -> None:
    problem = random_problem(np.random.default_rng(5), 60, 8, density=0.8, alternatives=0.2)
    first, second = (solve(problem, method, seed=3) for _ in range(2))
    assert first.plan.cost == second.plan.cost
    assert np.array_equal(first.plan.receives, second.plan.receives)
    assert np.array_equal(first.plan.made_from, second.plan.made_from)
    assert np.array_equal(first.plan.delivered, second.plan.delivered)
    assert first.lower_bound == second.lower_bound


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_10_000_levels_deep(method: str) -> None:
    problem = random_problem(np.random.default_rng(1), 10_000, 4, density=1.0)
    problem = problem.replace(parent=np.arange(-1, 9_999))
    check_placement(problem, solve(problem, method))


@pytest.mark.parametrize("method", METHODS)
def test_one_broker_with_a_thousand_children(method: str) -> None:
    problem = random_problem(np.random.default_rng(2), 1_000, 6, density=1.0)
    problem = problem.replace(parent=np.concatenate(([-1], np.zeros(999))))
    check_placement(problem, solve(problem, method))


@pytest.mark.parametrize("method", METHODS)
def test_nobody_wants_anything(method: str) -> None:
    solution = solve(random_problem(np.random.default_rng(3), 20, 5, wanting=0.0), method)
    check_placement(solution.plan.problem, solution, 0.0)
    assert solution.optimal
    assert not (solution.plan.made_from >= 0).any()


@pytest.mark.parametrize("method", METHODS)
def test_one_format_only(method: str) -> None:
    problem = Problem(
        size=[2.0],
        conversion=[[np.inf]],
        parent=[-1, 0, 1, 1],
        link_cost=[0.0, 1.0, 2.0, 3.0],
        compute_cost=np.ones(4),
        want_start=[0, 0, 0, 1, 1],
        choice_start=[0, 1],
        choice_format=[0],
        choice_penalty=[0.0],
    )
    solution = solve(problem, method)
    check_placement(problem, solution, 6.0)
    assert solution.optimal


@pytest.mark.parametrize("method", METHODS)
def test_next_to_no_time_still_gives_an_answer_or_a_word(method: str) -> None:
    problem = random_problem(np.random.default_rng(4), 200, 8, density=0.9)
    with contextlib.suppress(NoSolution):
        check_placement(problem, solve(problem, method, time_limit=1e-9))


def test_what_takes_no_time_is_proved_whatever_the_limit() -> None:
    problem = random_problem(np.random.default_rng(1), 40, 16, density=0.7)
    assert solve(problem, "auto", time_limit=1e-9).optimal
    assert not solve(problem, "exact", time_limit=1e-9).optimal
