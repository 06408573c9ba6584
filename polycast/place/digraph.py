"""A directed graph with weighted edges, as the Steiner algorithms and their kernels read it."""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Floats, Indices


class Digraph(NamedTuple):
    """Edges by number, and for every vertex the numbers of the edges that leave and enter it.

    Edge `e` leads from ``tail[e]`` to ``head[e]`` at ``weight[e] >= 0``; the edges that leave vertex `v` are
    ``leaving[leaving_start[v] : leaving_start[v + 1]]``, and likewise those that enter it. Parallel edges and
    loops do no harm.
    """

    tail: Indices
    head: Indices
    weight: Floats
    leaving_start: Indices
    leaving: Indices
    entering_start: Indices
    entering: Indices


@kernel
def digraph_of(vertices: int, tail: Indices, head: Indices, weight: Floats) -> Digraph:
    """The graph with these edges."""
    leaving_start, leaving = _grouped(vertices, tail)
    entering_start, entering = _grouped(vertices, head)
    return Digraph(tail, head, weight, leaving_start, leaving, entering_start, entering)


@kernel
def _grouped(vertices: int, ends: Indices) -> tuple[Indices, Indices]:
    """The numbers of the edges, sorted by one of their ends, and where the group of each vertex starts."""
    start = np.zeros(vertices + 1, np.int32)
    for end in ends:
        start[end + 1] += 1
    for vertex in range(vertices):
        start[vertex + 1] += start[vertex]
    grouped = np.empty(len(ends), np.int32)
    free = start.copy()
    for edge, end in enumerate(ends):
        grouped[free[end]] = edge
        free[end] += 1
    return start, grouped
