"""Plans and bounds for graphs of any size, compared with the optimum where that can be had."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.model.problem import Problem
from polycast.place import Search, solve
from polycast.place.large import large
from tests.checks import check_placement
from tests.oracles.placement import integer_program
from tests.problems import random_problem


def many_formats(seed: int, brokers: int = 60, formats: int = 40) -> Problem:
    rng = np.random.default_rng(seed)
    return random_problem(rng, brokers, formats, density=0.5, unsendable=0.1, alternatives=0.2, most_wants=4)


def without_tables(problem: Problem) -> Search:
    """What the method for large graphs finds, whatever the size of the graph."""
    search = Search(problem)
    large(search)
    return search


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_plan_beats_the_optimum_and_no_bound_exceeds_it(seed: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 20, 9, density=0.7, unsendable=0.2, alternatives=0.3, whole=whole)
    try:
        optimum = solve(problem, "exact").plan.cost.total
    except NoSolution:
        with pytest.raises(NoSolution):
            without_tables(problem)
        return
    search = without_tables(problem)
    assert search.best is not None
    assert search.best.fault() is None
    slack = 1e-9 * max(1.0, optimum)
    assert search.lower_bound <= optimum + slack
    assert search.best.cost.total >= optimum - slack


@pytest.mark.parametrize("seed", range(3))
def test_the_integer_program_lies_between_bound_and_plan(seed: int) -> None:
    problem = many_formats(seed, brokers=10, formats=24)
    check_placement(problem, solve(problem), integer_program(problem))


def test_the_gap_is_small_beyond_twenty_formats() -> None:
    gaps = []
    for seed in range(4):
        solution = solve(many_formats(seed))
        check_placement(solution.plan.problem, solution)
        gaps.append(solution.gap)
    assert np.mean(gaps) < 0.05


def test_the_bound_is_a_number_that_can_be_written() -> None:
    assert type(solve(many_formats(0, brokers=3, formats=25)).lower_bound) is float


def test_two_hundred_formats() -> None:
    problem = many_formats(1, brokers=40, formats=200)
    check_placement(problem, solve(problem, time_limit=5.0))


def test_a_graph_too_large_for_one_ascent_has_a_plan_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polycast.place.large.MOST_EDGES", 100)
    problem = many_formats(2)
    check_placement(problem, solve(problem))


def test_the_same_answer_every_time() -> None:
    problem = many_formats(3)
    first, second = solve(problem), solve(problem)
    assert first.plan.cost == second.plan.cost
    assert first.lower_bound == second.lower_bound
    assert np.array_equal(first.plan.receives, second.plan.receives)


@pytest.mark.parametrize("time_limit", [1e-9, 0.02, 0.3])
def test_a_time_limit_leaves_a_plan_and_a_bound(time_limit: float) -> None:
    problem = many_formats(4, brokers=300)
    solution = solve(problem, time_limit=time_limit)
    check_placement(problem, solution)
    assert solution.lower_bound > 0


def test_ctrl_c_leaves_the_best_so_far() -> None:
    def interrupt(_share: float | None, message: str) -> None:
        if "at most" in message:
            raise KeyboardInterrupt

    problem = many_formats(5)
    solution = solve(problem, on_progress=interrupt)
    assert solution.interrupted
    check_placement(problem, solution)
