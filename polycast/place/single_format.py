"""The plan that sends one format over each link, the smallest that serves all below it (CCD, appendix D)."""

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Indices, Ints, Problem
from polycast.place.arrays import Arrays, arrays_of
from polycast.place.feasible import available, check_feasible, derivable, unmet
from polycast.place.making import EFFORT, make
from polycast.place.search import Search


def place_single_format(search: Search) -> None:
    """Offer the plan that sends over each link one format, from which all below it can be made."""
    search.offer(single_format(search.problem))


def single_format(problem: Problem) -> Plan:
    check_feasible(problem)
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered = np.zeros(problem.wants, np.int32)
    arrays = arrays_of(problem)
    stuck = _choose(arrays, _by_size(problem), _leads_to(problem), receives)
    if stuck >= 0:
        _give_up(problem, stuck)
    _fill(arrays, receives, made_from, delivered)
    return Plan(problem, receives, made_from, delivered)


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
def _choose(problem: Arrays, candidates: Ints, leads_to: Flags, receives: Flags) -> int:
    """Choose the format of every link, from the leaves up; the broker below one that has none, or -1."""
    for broker in problem.order[::-1]:
        needed = _sent_on(problem, broker, receives)
        if broker == problem.root:
            receives[broker, problem.published] = True
        elif needed.any() or problem.want_start[broker] < problem.want_start[broker + 1]:
            chosen = -1
            for candidate in candidates:
                if chosen < 0 and _serves(problem, broker, needed, leads_to[candidate]):
                    chosen = candidate
            if chosen < 0:
                return int(broker)
            receives[broker, chosen] = True
    return -1


@kernel
def _sent_on(problem: Arrays, broker: int, receives: Flags) -> Flags:
    """The formats that leave a broker for its children."""
    sent = np.zeros(len(problem.size), np.bool_)
    for child in problem.children[problem.child_start[broker] : problem.child_start[broker + 1]]:
        sent |= receives[child]
    return sent


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


@kernel
def _fill(problem: Arrays, receives: Flags, made_from: Indices, delivered: Indices) -> None:
    for broker in problem.order:
        if receives[broker].any():
            make(
                problem,
                broker,
                receives[broker],
                _sent_on(problem, broker, receives),
                EFFORT,
                made_from,
                delivered,
            )
