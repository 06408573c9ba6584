"""The plan that sends one format over each link, the smallest that serves all below it (CCD, appendix D)."""

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Ints, Problem
from polycast.place.arrays import Arrays, Parts, arrays_of, blank_parts, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.feasible import available, check_feasible, derivable, unmet
from polycast.place.region import convert_everywhere, handed_on
from polycast.place.search import Search
from polycast.place.steiner import EFFORT


def place_single_format(search: Search) -> None:
    """Offer the plan that sends over each link one format, from which all below it can be made."""
    search.offer(single_format(search.problem))
    search.raise_bound(lower_bound(search.problem))


def single_format(problem: Problem) -> Plan:
    check_feasible(problem)
    arrays, parts = arrays_of(problem), blank_parts(problem)
    stuck = _choose(arrays, _by_size(problem), _leads_to(problem), parts)
    if stuck >= 0:
        _give_up(problem, stuck)
    convert_everywhere(arrays, parts, EFFORT)
    return plan_of_parts(problem, parts)


def _by_size(problem: Problem) -> Ints:
    """The formats that can be sent at all, the smallest first."""
    at_root, _ = available(problem)
    order = np.argsort(problem.size, kind="stable")
    return order[(at_root & problem.sendable)[order]]


def _leads_to(problem: Problem) -> Flags:
    """Whether one format (row) leads to another (column)."""
    return derivable(problem, np.eye(problem.formats, dtype=np.bool_))


def _give_up(problem: Problem, broker: int) -> None:
    below = {broker}
    for child in problem.order:
        if problem.parent[child] in below:
            below.add(int(child))
    want = next(want for want, at in enumerate(problem.want_broker) if at in below)
    name = problem.broker_names[broker]
    raise NoSolution(
        unmet(problem, want, f'no single format can be sent to "{name}" for all that is wanted below')
    )


@kernel
def _choose(problem: Arrays, candidates: Ints, leads_to: Flags, parts: Parts) -> int:
    """Choose the format of every link, from the leaves up; the broker below one that has none, or -1."""
    for broker in problem.order[:0:-1]:
        if problem.wanting[broker]:
            chosen = _smallest(problem, broker, handed_on(problem, parts, broker), candidates, leads_to)
            if chosen < 0:
                return int(broker)
            parts.receives[broker, chosen] = True
    return -1


@kernel
def _smallest(problem: Arrays, broker: int, needed: Flags, candidates: Ints, leads_to: Flags) -> int:
    for candidate in candidates:
        if _serves(problem, broker, needed, leads_to[candidate]):
            return int(candidate)
    return -1


@kernel
def _serves(problem: Arrays, broker: int, needed: Flags, reach: Flags) -> bool:
    """Whether what a format leads to includes all that is needed and a choice of each want."""
    if (needed & ~reach).any():
        return False
    for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
        served = False
        for choice in range(problem.choice_start[want], problem.choice_start[want + 1]):
            served |= reach[problem.choice_format[choice]]
        if not served:
            return False
    return True
