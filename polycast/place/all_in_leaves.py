"""The plan that sends the published format wherever anything is wanted, and converts there (CCD, appendix D)."""

import numpy as np

from polycast.errors import NoSolution
from polycast.model.plan import Plan
from polycast.model.problem import Problem
from polycast.place.arrays import arrays_of, blank_parts, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.feasible import check_feasible, unmet
from polycast.place.region import convert_everywhere
from polycast.place.search import Search
from polycast.place.steiner import EFFORT


def place_all_in_leaves(search: Search) -> None:
    """Offer the plan in which each broker makes what it wants from the published format."""
    search.offer(all_in_leaves(search.problem))
    search.raise_bound(lower_bound(search.problem))


def all_in_leaves(problem: Problem) -> Plan:
    check_feasible(problem)
    _check_published_can_be_sent(problem)
    parts = blank_parts(problem)
    arrays = arrays_of(problem)
    parts.receives[arrays.wanting, problem.published] = True
    convert_everywhere(arrays, parts, EFFORT)
    return plan_of_parts(problem, parts)


def _check_published_can_be_sent(problem: Problem) -> None:
    afar = np.flatnonzero(problem.want_broker != problem.root)
    if not problem.sendable[problem.published] and len(afar):
        published = problem.format_names[problem.published]
        reason = f'all-in-leaves sends only "{published}", which cannot be sent'
        raise NoSolution(unmet(problem, int(afar[0]), reason))
