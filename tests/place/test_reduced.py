import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.model.problem import Problem
from polycast.place import solve
from polycast.place.reduced import TRAVELLING, reduced
from tests.oracles.placement import algorithm_1
from tests.place.test_methods import odd_problem
from tests.problems import random_problem


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_small_graphs_are_planned_well_and_whatever_can_be_met_is_met(seed: int) -> None:
    problem = odd_problem(seed, 5, 4)
    optimum = algorithm_1(problem)
    if optimum == np.inf:
        with pytest.raises(NoSolution):
            reduced(problem)
        return
    plan = reduced(problem)
    assert plan is not None
    assert plan.fault() is None
    assert plan.cost.total >= optimum - 1e-9 * max(1.0, optimum)


def test_where_all_formats_travel_only_the_sharing_of_chains_is_lost() -> None:
    ratios = []
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), 60, TRAVELLING, density=1.0, most_wants=3)
        plan = reduced(problem)
        assert plan is not None
        ratios.append(plan.cost.total / solve(problem, "exact").plan.cost.total)
    assert np.mean(ratios) < 1.05


def test_on_a_large_graph_it_is_the_better_start() -> None:
    better = 0
    for seed in range(5):
        problem = random_problem(np.random.default_rng(seed), 300, 30, density=1.0, most_wants=4)
        best, other = (
            solve(problem, "refine", start=start, iterations=300).plan.cost.total for start in ("best", "reduced")
        )
        better += other < best
    assert better >= 4


def test_too_many_formats_that_lead_nowhere_are_a_word() -> None:
    problem = _islands(40)
    with pytest.raises(NoSolution, match="reduced graph would need more than"):
        solve(problem, "refine", start="reduced")
    assert solve(problem, "refine").plan.fault() is None


def _islands(formats: int) -> Problem:
    """Every broker below wants another format, and only the root can make them: pages in many languages."""
    conversion = np.full((formats, formats), np.inf)
    conversion[0, 1:] = 1.0
    size = np.ones(formats)
    size[0] = np.inf
    return Problem(
        size=size,
        conversion=conversion,
        parent=np.concatenate(([-1], np.zeros(formats - 1))),
        link_cost=np.ones(formats),
        compute_cost=np.ones(formats),
        want_start=np.maximum(np.arange(-1, formats), 0),
        choice_start=np.arange(formats),
        choice_format=np.arange(1, formats),
        choice_penalty=np.zeros(formats - 1),
    )
