"""A placement problem as the exact kernels read it: only formats that matter, each of them one bit of a set."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.model.problem import Floats, Indices, Ints, Problem
from polycast.place.exact_lattice import LEAST_BITS, cheapest_operators


class Task(NamedTuple):
    """
    Parameters
    ----------
    bit : (m,)
        The bit of each format of the problem; -1 for one that cannot matter.
    format : (k,)
        The format of each bit. There may be a bit more than formats, to fill up to three.
    chain, before : (k, k)
        What the cheapest chain of operators between two formats costs, and the format before its last.
    high, low
        The operators, as :func:`cheapest_operators` gives them; ``free_high`` and ``free_low`` where none costs.
    link_cost, compute_cost : (n,)
        With the weights alpha and beta multiplied in.
    """

    bit: Ints
    format: Ints
    size: Floats
    conversion: Floats
    chain: Floats
    before: Ints
    high: Floats
    low: Floats
    free_high: Floats
    free_low: Floats
    published: int
    root: int
    parent: Indices
    child_start: Ints
    children: Indices
    link_cost: Floats
    compute_cost: Floats
    want_start: Ints
    choice_start: Ints
    choice_format: Indices
    choice_penalty: Floats


def task_of(problem: Problem, formats: npt.NDArray[np.int64]) -> Task:
    """Reduce a problem to some formats, filled up to three with formats that nobody can make or send."""
    k = max(LEAST_BITS, len(formats))
    bit = np.full(problem.formats, -1, np.int64)
    bit[formats] = np.arange(len(formats))
    size = np.full(k, np.inf)
    size[: len(formats)] = problem.size[formats]
    conversion = np.full((k, k), np.inf)
    conversion[: len(formats), : len(formats)] = problem.conversion[np.ix_(formats, formats)]
    np.fill_diagonal(conversion, np.inf)
    high, low = cheapest_operators(conversion)
    free = high, low
    compute_cost = problem.beta * problem.compute_cost
    if not compute_cost.all():
        free = cheapest_operators(np.where(np.isfinite(conversion), 0.0, np.inf))
    chain, before = _chains(conversion)
    return Task(
        bit=bit,
        format=formats,
        size=size,
        conversion=conversion,
        chain=chain,
        before=before,
        high=high,
        low=low,
        free_high=free[0],
        free_low=free[1],
        published=int(bit[problem.published]),
        root=problem.root,
        parent=problem.parent,
        child_start=problem.child_start,
        children=problem.children,
        link_cost=problem.alpha * problem.link_cost,
        compute_cost=compute_cost,
        want_start=problem.want_start,
        choice_start=problem.choice_start,
        choice_format=problem.choice_format,
        choice_penalty=problem.choice_penalty,
    )


@kernel
def _chains(conversion: Floats) -> tuple[Floats, Ints]:
    """The cheapest chain of operators between any two formats (Floyd and Warshall).

    Returns what it costs, and the format before its last.
    """
    chain = conversion.copy()
    before = np.empty(chain.shape, np.int64)
    for source in range(len(chain)):
        before[source] = source
    for middle in range(len(chain)):
        for source in range(len(chain)):
            for target in range(len(chain)):
                through = chain[source, middle] + chain[middle, target]
                if through < chain[source, target]:
                    chain[source, target] = through
                    before[source, target] = before[middle, target]
    return chain, before


@kernel
def wanting_brokers(task: Task, order: Indices) -> Indices:
    """The root, and the brokers whose subtree wants anything, in the given order (parents before children)."""
    wanting = np.zeros(len(order), np.bool_)
    for position in range(len(order) - 1, -1, -1):
        broker = order[position]
        wanting[broker] = task.want_start[broker + 1] > task.want_start[broker] or broker == task.root
        for child in range(task.child_start[broker], task.child_start[broker + 1]):
            wanting[broker] |= wanting[task.children[child]]
    return order[wanting[order]]
