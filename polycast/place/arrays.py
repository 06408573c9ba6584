"""A placement problem as kernels read it."""

from typing import NamedTuple

from polycast.model.problem import Flags, Floats, Indices, Ints, Problem


class Arrays(NamedTuple):
    """The fields of a :class:`Problem` that the costs and the wants are in."""

    size: Floats
    sendable: Flags
    conversion: Floats
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


def arrays_of(problem: Problem) -> Arrays:
    fields = {name: getattr(problem, name) for name in Arrays._fields}
    return Arrays(**fields | {"alpha": float(problem.alpha), "beta": float(problem.beta)})
