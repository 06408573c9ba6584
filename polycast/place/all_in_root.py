"""The plan that makes everything at the root and sends it where it is wanted (CCD, appendix D)."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Floats, Indices, Problem
from polycast.place.arrays import Arrays, Parts, arrays_of, blank_parts, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.feasible import check_feasible
from polycast.place.paths import shortest_distances
from polycast.place.region import convert_everywhere
from polycast.place.search import Search
from polycast.place.steiner import EFFORT


def place_all_in_root(search: Search) -> None:
    """Offer the plan in which the root makes everything that is wanted anywhere."""
    search.offer(all_in_root(search.problem))
    search.raise_bound(lower_bound(search.problem))


def all_in_root(problem: Problem) -> Plan:
    """Of alternatives, each want takes the one that would cost least if it were the only want.

    A format that cannot be sent is made where it is wanted, from the format for which the same holds.
    """
    check_feasible(problem)
    parts = blank_parts(problem)
    _request(arrays_of(problem), shortest_distances(problem.conversion), parts)
    convert_everywhere(arrays_of(_decided(problem, parts.delivered)), parts, EFFORT)
    return plan_of_parts(problem, parts)


def _decided(problem: Problem, delivered: Indices) -> Problem:
    """The same problem, with the one format for each want that it is to be given."""
    wants = np.arange(problem.wants + 1)
    return problem.replace(
        choice_start=wants, choice_format=delivered.copy(), choice_penalty=np.zeros(problem.wants)
    )


@kernel
def _request(problem: Arrays, distance: Floats, parts: Parts) -> None:
    """Decide what satisfies each want, and send what that takes over all links that lead there."""
    path_cost = np.zeros(len(problem.parent))
    for broker in problem.order[1:]:
        path_cost[broker] = path_cost[problem.parent[broker]] + problem.link_cost[broker]
    for broker in problem.order[:0:-1]:
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            parts.delivered[want], sent = _cheapest_choice(problem, broker, want, path_cost[broker], distance)
            parts.receives[broker, sent] = True
        if problem.parent[broker] != problem.root:
            parts.receives[problem.parent[broker]] |= parts.receives[broker]
    for want in range(problem.want_start[problem.root], problem.want_start[problem.root + 1]):
        parts.delivered[want], _ = _cheapest_choice(problem, problem.root, want, 0.0, distance)


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
            suits = sent == format if at_home else problem.sendable[sent]
            if not suits:
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
