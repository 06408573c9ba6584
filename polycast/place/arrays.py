"""A placement problem, and a plan for it, as kernels read and write them."""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Flags, Floats, Indices, Ints, Problem
from polycast.place.paths import shortest_distances


class Arrays(NamedTuple):
    """The fields of a :class:`Problem`, its useful operators as a list, and who is wanting.

    An operator is of no use if a chain of others does the same for less: no cheapest plan needs it. A broker is
    wanting if anything is wanted there or below.
    """

    size: Floats
    sendable: Flags
    conversion: Floats
    source: Indices
    target: Indices
    operator_cost: Floats
    parent: Indices
    link_cost: Floats
    compute_cost: Floats
    want_start: Ints
    choice_start: Ints
    choice_format: Indices
    choice_penalty: Floats
    published: int
    alpha: float
    beta: float
    root: int
    child_start: Ints
    children: Indices
    order: Indices
    wanting: Flags


class Parts(NamedTuple):
    """What a plan says, as arrays that a method may write to: see :class:`Plan`."""

    receives: Flags
    made_from: Indices
    delivered: Indices


def arrays_of(problem: Problem) -> Arrays:
    source, target = useful_operators(problem)
    fields = {name: getattr(problem, name) for name in Arrays._fields if hasattr(problem, name)}
    return Arrays(
        **fields | {"alpha": float(problem.alpha), "beta": float(problem.beta)},
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        operator_cost=problem.conversion[source, target],
        wanting=_wanting(problem.parent, problem.order, problem.want_start),
    )


def useful_operators(problem: Problem) -> tuple[Ints, Ints]:
    """The sources and targets of the operators that no chain of others undercuts."""
    direct = np.isfinite(problem.conversion) & ~np.eye(problem.formats, dtype=np.bool_)
    useful = direct & (problem.conversion <= shortest_distances(problem.conversion))
    source, target = np.nonzero(useful)
    return source, target


@kernel
def _wanting(parent: Indices, order: Indices, want_start: Ints) -> Flags:
    wanting = want_start[1:] > want_start[:-1]
    for broker in order[:0:-1]:
        wanting[parent[broker]] |= wanting[broker]
    return wanting


def blank_parts(problem: Problem) -> Parts:
    """A plan that says nothing but what the root receives."""
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    receives[problem.root, problem.published] = True
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    return Parts(receives, made_from, np.zeros(problem.wants, np.int32))


def parts_of(plan: Plan) -> Parts:
    """A copy of a plan's arrays, to be written to."""
    return Parts(plan.receives.copy(), plan.made_from.copy(), plan.delivered.copy())


def plan_of_parts(problem: Problem, parts: Parts) -> Plan:
    """A plan with a copy of what has been written."""
    return Plan(problem, parts.receives.copy(), parts.made_from.copy(), parts.delivered.copy())
