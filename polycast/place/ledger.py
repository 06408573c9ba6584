"""What a plan under refinement costs, broker by broker, kept up to date as regions change."""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Floats, Indices
from polycast.place.arrays import Arrays, Parts, arrays_of, parts_of
from polycast.place.bounds import link_bounds


class Ledger(NamedTuple):
    """The cost of a plan, and where it leaves most to be gained.

    Parameters
    ----------
    depth
        How many levels below its top a region has.
    making
        What each broker's operators cost, and the penalties of those of its wants that have a choice.
    sending
        What the link to each broker costs.
    slack
        How far each broker's region is above the paper's lower bounds: those of its links, and 0 for conversions.
    settled
        Whether refining a region again could give nothing new, as what it receives and hands on is still the same.
    total
        What the plan costs, as an array of one.
    """

    depth: int
    making: Floats
    sending: Floats
    slack: Floats
    settled: Flags
    total: Floats


def ledger_of(plan: Plan, depth: int) -> Ledger:
    problem = plan.problem
    arrays = arrays_of(problem)
    making, sending = _costs(arrays, parts_of(plan))
    slack = _slacks(arrays, making, sending - link_bounds(problem), depth)
    return Ledger(depth, making, sending, slack, ~arrays.wanting, np.array([plan.cost.total]))


@kernel
def _costs(problem: Arrays, parts: Parts) -> tuple[Floats, Floats]:
    making, sending = np.zeros(len(problem.parent)), np.zeros(len(problem.parent))
    for broker in range(len(problem.parent)):
        making[broker] = _making_cost(problem, parts, broker)
        sending[broker] = _sending_cost(problem, parts, broker)
    return making, sending


@kernel
def _making_cost(problem: Arrays, parts: Parts, broker: int) -> float:
    cost = 0.0
    for format, source in enumerate(parts.made_from[broker]):
        if source >= 0:
            cost += problem.beta * problem.compute_cost[broker] * problem.conversion[source, format]
    for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
        first, last = problem.choice_start[want], problem.choice_start[want + 1]
        if last - first > 1:
            penalty = np.inf
            for choice in range(first, last):
                if problem.choice_format[choice] == parts.delivered[want]:
                    penalty = min(penalty, problem.choice_penalty[choice])
            cost += penalty
    return cost


@kernel
def _sending_cost(problem: Arrays, parts: Parts, broker: int) -> float:
    cost = 0.0
    if broker != problem.root:
        for format in range(len(problem.size)):
            if parts.receives[broker, format]:
                cost += problem.alpha * problem.link_cost[broker] * problem.size[format]
    return cost


@kernel
def _slacks(problem: Arrays, making: Floats, excess: Floats, depth: int) -> Floats:
    slack = making.copy()
    for broker in range(len(making)):
        _add_above(problem, slack, broker, depth, making[broker] + excess[broker])
    return slack


@kernel
def _add_above(problem: Arrays, slack: Floats, broker: int, depth: int, change: float) -> None:
    """Add a change of cost at a broker to the regions above that it belongs to."""
    above = problem.parent[broker]
    for _ in range(depth):
        if above < 0:
            break
        slack[above] += change
        above = problem.parent[above]


@kernel
def local_cost(ledger: Ledger, brokers: Indices) -> float:
    """What a region costs, given its brokers, the top first: all but the link to the top."""
    cost = ledger.making[brokers[0]]
    for broker in brokers[1:]:
        cost += ledger.making[broker] + ledger.sending[broker]
    return float(cost)


@kernel
def recount(problem: Arrays, parts: Parts, ledger: Ledger, brokers: Indices, received: Flags) -> None:
    """Note what a region costs once it has changed, given what its brokers received before."""
    before = local_cost(ledger, brokers)
    for position, broker in enumerate(brokers):
        making, sending = _making_cost(problem, parts, broker), _sending_cost(problem, parts, broker)
        change = making - ledger.making[broker]
        ledger.slack[broker] += change
        _add_above(problem, ledger.slack, broker, ledger.depth, change + sending - ledger.sending[broker])
        ledger.making[broker], ledger.sending[broker] = making, sending
        if (parts.receives[broker] != received[position]).any():
            _unsettle(problem, ledger, broker)
    ledger.total[0] += local_cost(ledger, brokers) - before


@kernel
def _unsettle(problem: Arrays, ledger: Ledger, broker: int) -> None:
    """A link has changed: so has what the region below it receives, and what the one that ends there hands on."""
    ledger.settled[broker] = False
    above = broker
    for _ in range(ledger.depth + 1):
        above = problem.parent[above]
        if above < 0:
            return
    ledger.settled[above] = False
