"""The plan that makes everything at the root and sends it where it is wanted (CCD, appendix D)."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Floats, Indices, Problem
from polycast.place.arrays import Arrays, arrays_of
from polycast.place.feasible import check_feasible
from polycast.place.making import EFFORT, make
from polycast.place.paths import shortest_distances
from polycast.place.search import Search


def place_all_in_root(search: Search) -> None:
    """Offer the plan in which the root makes everything that is wanted anywhere."""
    search.offer(all_in_root(search.problem))


def all_in_root(problem: Problem) -> Plan:
    """Of alternatives, each want takes the one that would cost least if it were the only want.

    A format that cannot be sent is made where it is wanted, from the format for which the same holds.
    """
    check_feasible(problem)
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered = np.zeros(problem.wants, np.int32)
    _request(arrays_of(problem), shortest_distances(problem.conversion), receives, delivered)
    _fill(arrays_of(_decided(problem, delivered)), receives, made_from, delivered)
    return Plan(problem, receives, made_from, delivered)


def _decided(problem: Problem, delivered: Indices) -> Problem:
    """The same problem, with the one format for each want that it is to be given."""
    wants = np.arange(problem.wants + 1)
    return problem.replace(
        choice_start=wants, choice_format=delivered.copy(), choice_penalty=np.zeros(problem.wants)
    )


@kernel
def _request(problem: Arrays, distance: Floats, receives: Flags, delivered: Indices) -> None:
    """Decide what satisfies each want, and send what that takes over all links that lead there."""
    path_cost = np.zeros(len(problem.parent))
    for broker in problem.order[1:]:
        path_cost[broker] = path_cost[problem.parent[broker]] + problem.link_cost[broker]
    for broker in problem.order[::-1]:
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            delivered[want], sent = _cheapest_choice(problem, broker, want, path_cost[broker], distance)
            receives[broker, sent] = True
        if broker != problem.root:
            receives[problem.parent[broker]] |= receives[broker]


@kernel
def _cheapest_choice(
    problem: Arrays, broker: int, want: int, path_cost: float, distance: Floats
) -> tuple[int, int]:
    """The format that satisfies a want at least cost, and the one that the root makes and sends for it."""
    best, best_choice, best_sent = np.inf, -1, -1
    for choice in range(problem.choice_start[want], problem.choice_start[want + 1]):
        format = problem.choice_format[choice]
        for sent in range(len(problem.size)):
            at_home = broker == problem.root or problem.sendable[format]
            if sent != format if at_home else not problem.sendable[sent]:
                continue
            cost = problem.choice_penalty[choice]
            cost += problem.beta * problem.compute_cost[problem.root] * distance[problem.published, sent]
            if not at_home:
                cost += problem.beta * problem.compute_cost[broker] * distance[sent, format]
            if broker != problem.root:
                cost += problem.alpha * path_cost * problem.size[sent]
            if cost < best:
                best, best_choice, best_sent = cost, int(format), sent
    return best_choice, best_sent


@kernel
def _fill(problem: Arrays, receives: Flags, made_from: Indices, delivered: Indices) -> None:
    """Run everything at the root, and elsewhere what cannot be sent."""
    published = np.zeros(len(problem.size), np.bool_)
    published[problem.published] = True
    make(problem, problem.root, published, receives[problem.root], EFFORT, made_from, delivered)
    receives[problem.root] = published
    nothing = np.zeros(len(problem.size), np.bool_)
    for broker in problem.order[1:]:
        if problem.want_start[broker] < problem.want_start[broker + 1]:
            make(problem, broker, receives[broker], nothing, EFFORT, made_from, delivered)
