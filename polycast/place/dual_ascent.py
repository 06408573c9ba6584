"""A lower bound on directed Steiner trees by dual ascent (Wong, 1984).

Take a terminal that edges without a price left do not yet connect to the root. The vertices that reach it over
such edges form a cut, which every tree must enter: raise the bound by the least price on the edges into the cut,
and lower the prices of all of them by as much.
"""

from heapq import heapify, heappop, heappush

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices
from polycast.place.digraph import Digraph

# Sums of floats may end a little high: by this share the bound stays below them.
ROUNDING = 1e-12


@kernel
def dual_ascent(graph: Digraph, root: int, terminals: Indices) -> tuple[float, Floats]:
    """A bound that no tree from the root to all terminals undercuts, and the prices left on the edges.

    A tree that takes an edge costs at least the bound and the price left on it. The edges without a price
    connect the root to all terminals, which must be in its reach.
    """
    bound, price = 0.0, graph.weight.copy()
    member = np.zeros(len(graph.leaving_start) - 1, np.bool_)
    queue = [(0, np.int64(terminal)) for terminal in terminals if terminal != root]
    heapify(queue)
    while len(queue):
        size, terminal = heappop(queue)
        cut = _cut(graph, int(terminal), price, member)
        if not member[root]:
            if len(cut) <= size:
                bound += _raise(graph, cut, member, price)
            heappush(queue, (len(cut), terminal))
        member[cut] = False
    return bound * (1.0 - ROUNDING), price


@kernel
def _cut(graph: Digraph, terminal: int, price: Floats, member: Flags) -> Indices:
    """The vertices that reach a terminal over edges without a price."""
    cut = [np.int32(terminal)]
    member[terminal] = True
    for vertex in cut:
        for position in range(graph.entering_start[vertex], graph.entering_start[vertex + 1]):
            edge = graph.entering[position]
            tail = graph.tail[edge]
            if price[edge] <= 0.0 and not member[tail]:
                member[tail] = True
                cut.append(tail)
    return np.array(cut, dtype=np.int32)


@kernel
def _raise(graph: Digraph, cut: Indices, member: Flags, price: Floats) -> float:
    """Lower the prices of all edges into a cut by the least of them, and tell that one."""
    least = np.inf
    for change in range(2):
        for vertex in cut:
            for position in range(graph.entering_start[vertex], graph.entering_start[vertex + 1]):
                edge = graph.entering[position]
                if not member[graph.tail[edge]]:
                    if change:
                        price[edge] -= least
                    least = min(least, price[edge]) if not change else least
    return least
