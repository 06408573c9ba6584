"""Properties that every implementation must pass, whatever it computes and however.

One section for each kind of thing that has several implementations.
"""

import math

from polycast.model.problem import Problem
from polycast.place.solve import PROVED, Solution

# ---- placement: every method of polycast.place.METHODS


def check_placement(problem: Problem, solution: Solution, optimum: float | None = None) -> None:
    """The plan is valid, its cost recomputes, its bound is one, and it does not beat the proved optimum."""
    plan = solution.plan
    assert plan.problem is problem
    assert plan.fault() is None
    again = type(plan)(problem, plan.receives.copy(), plan.made_from.copy(), plan.delivered.copy())
    assert again.cost == plan.cost
    total = plan.cost.total
    assert math.isfinite(total)
    assert 0 <= solution.lower_bound <= total
    assert solution.optimal == (total - solution.lower_bound <= PROVED * total)
    if optimum is not None:
        slack = 1e-9 * max(1.0, optimum)
        assert total >= optimum - slack
        assert solution.lower_bound <= optimum + slack
        if solution.optimal:
            assert total <= optimum + slack
