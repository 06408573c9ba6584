"""Where each conversion runs, at least cost: one algorithm to a file, and ``solve`` to choose among them."""

from polycast.model.plan import Cost, Plan, Step, plan_of
from polycast.model.problem import Problem, problem_of
from polycast.place.search import Options, Search
from polycast.place.solve import METHODS, Solution, solve

__all__ = [
    "METHODS",
    "Cost",
    "Options",
    "Plan",
    "Problem",
    "Search",
    "Solution",
    "Step",
    "plan_of",
    "problem_of",
    "solve",
]
