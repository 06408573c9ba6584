import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.model.problem import Problem
from polycast.place import solve
from tests.checks import check_placement
from tests.oracles.placement import algorithm_1, every_plan, integer_program
from tests.problems import random_problem


def odd_problem(seed: int, most_brokers: int = 5, most_formats: int = 4) -> Problem:
    """A small problem that mixes, at random, everything that is allowed."""
    rng = np.random.default_rng(seed)
    return random_problem(
        rng,
        int(rng.integers(1, most_brokers + 1)),
        int(rng.integers(2, most_formats + 1)),
        density=float(rng.choice([0.3, 0.7, 1.0])),
        unsendable=float(rng.choice([0.0, 0.3])),
        alternatives=float(rng.choice([0.0, 0.5])),
        whole=bool(rng.integers(2)),
    )


def agrees(problem: Problem, optimum: float) -> None:
    if optimum == np.inf:
        with pytest.raises(NoSolution):
            solve(problem, "exact")
    else:
        solution = solve(problem, "exact")
        assert solution.optimal
        check_placement(problem, solution, optimum)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_exact_is_algorithm_1(seed: int) -> None:
    problem = odd_problem(seed)
    agrees(problem, algorithm_1(problem))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_exact_is_the_best_of_all_plans(seed: int) -> None:
    problem = odd_problem(seed, 2, 3)
    agrees(problem, min((plan.cost.total for plan in every_plan(problem)), default=np.inf))


@pytest.mark.parametrize("seed", range(8))
def test_exact_is_the_integer_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 12, 8, density=0.6, unsendable=0.1, alternatives=0.2, whole=seed % 2 == 0)
    agrees(problem, integer_program(problem))


@given(st.integers(0, 2**32 - 1), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_tables_and_offers_agree_whichever_subtrees_want_little(seed: int, most: int) -> None:
    problem = odd_problem(seed, 14, 6)
    try:
        optimum = solve(problem, "exact").plan.cost.total
    except NoSolution:
        optimum = np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polycast.place.exact.MOST_FORMATS", 0)
        patch.setattr("polycast.place.exact.most_wants", lambda _formats, _brokers: most)
        agrees(problem, optimum)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(20))
def test_exact_is_algorithm_1_thousands_of_times(block: int) -> None:
    for seed in range(1000 * block, 1000 * block + 1000):
        problem = odd_problem(seed)
        agrees(problem, algorithm_1(problem))


def path(brokers: int, **changes: object) -> Problem:
    """A tree without branches: the last broker wants one format, the middle one another."""
    want_start = np.zeros(brokers + 1, np.int64)
    want_start[brokers // 2 + 1 :] += 1
    want_start[brokers] += 1
    problem = Problem(
        size=[9.0, 4.0, 1.0],
        conversion=[[np.inf, 5.0, 3.0], [np.inf, np.inf, 1.0], [np.inf, 2.0, np.inf]],
        parent=np.arange(-1, brokers - 1),
        link_cost=np.ones(brokers),
        compute_cost=np.ones(brokers),
        want_start=want_start,
        choice_start=[0, 1, 2],
        choice_format=[2, 1],
        choice_penalty=[0.0, 0.0],
    )
    return problem.replace(**changes)


def test_a_tree_10_000_levels_deep() -> None:
    solution = solve(path(10_001), "exact")
    assert solution.optimal
    assert solution.plan.cost.total == 3 + 10_000 * 1 + 2  # the small format all the way, the other at the end


def test_nobody_wants_anything() -> None:
    nothing = path(3, want_start=[0, 0, 0, 0], choice_start=[0], choice_format=[], choice_penalty=[])
    solution = solve(nothing, "exact")
    assert solution.plan.cost.total == 0
    assert solution.optimal
    assert solution.plan.receives.sum() == 1  # the root has the published format


def test_a_want_out_of_reach_is_named() -> None:
    problem = path(3, conversion=np.full((3, 3), np.inf), broker_names=("top", "middle", "bottom"))
    with pytest.raises(NoSolution, match='"middle" wants "F2"'):
        solve(problem, "exact")


def test_free_conversions_do_not_make_missing_operators_possible() -> None:
    problem = path(3, beta=0.0, size=[9.0, np.inf, 4.0])
    solution = solve(problem, "exact")
    check_placement(problem, solution, integer_program(problem))


def test_nothing_is_made_for_nothing_even_where_conversions_are_free() -> None:
    plan = solve(path(3, beta=0.0), "exact").plan
    used = plan.receives[1:].any(axis=0)
    used[plan.delivered] = True
    used[plan.made_from[plan.made_from >= 0]] = True
    assert used[np.nonzero(plan.made_from >= 0)[1]].all()


def test_without_the_time_for_the_optimum_everything_is_made_at_the_root() -> None:
    problem = random_problem(np.random.default_rng(1), 2_000, 14, density=1.0, most_wants=6)
    solution = solve(problem, "exact", time_limit=1e-9)
    assert solution.plan.cost == solve(problem, "all-in-root").plan.cost
    check_placement(problem, solution)


def test_ctrl_c_before_there_is_an_optimum_leaves_a_plan_all_the_same() -> None:
    def interrupt(_share: float | None, _message: str) -> None:
        raise KeyboardInterrupt

    problem = random_problem(np.random.default_rng(1), 20, 5)
    solution = solve(problem, "exact", on_progress=interrupt)
    assert solution.interrupted
    check_placement(problem, solution)


def test_what_is_solved_at_once_is_solved_whatever_the_clock_says() -> None:
    problem = random_problem(np.random.default_rng(1), 20, 5)
    assert solve(problem, "auto", time_limit=1e-9).optimal
