"""The plan that sends the published format wherever anything is wanted, and converts there (CCD, appendix D)."""

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Indices, Problem
from polycast.place.arrays import Arrays, arrays_of
from polycast.place.feasible import check_feasible, unmet
from polycast.place.making import EFFORT, make
from polycast.place.search import Search


def place_all_in_leaves(search: Search) -> None:
    """Offer the plan in which each broker makes what it wants from the published format."""
    search.offer(all_in_leaves(search.problem))


def all_in_leaves(problem: Problem) -> Plan:
    check_feasible(problem)
    _check_published_can_be_sent(problem)
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered = np.zeros(problem.wants, np.int32)
    _fill(arrays_of(problem), receives, made_from, delivered)
    return Plan(problem, receives, made_from, delivered)


def _check_published_can_be_sent(problem: Problem) -> None:
    afar = np.flatnonzero(problem.want_broker != problem.root)
    if not problem.sendable[problem.published] and len(afar):
        published = problem.format_names[problem.published]
        raise NoSolution(
            unmet(problem, int(afar[0]), f'all-in-leaves sends only "{published}", which cannot be sent')
        )


@kernel
def _fill(problem: Arrays, receives: Flags, made_from: Indices, delivered: Indices) -> None:
    held = np.zeros(len(problem.size), np.bool_)
    held[problem.published] = True
    nothing = np.zeros(len(problem.size), np.bool_)
    for broker in problem.order[::-1]:
        if problem.want_start[broker] < problem.want_start[broker + 1]:
            receives[broker] = held
            make(problem, broker, held, nothing, EFFORT, made_from, delivered)
        if broker != problem.root and receives[broker].any():
            receives[problem.parent[broker]] = held
    receives[problem.root] = held
