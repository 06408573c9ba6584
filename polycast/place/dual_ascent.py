"""A lower bound on directed Steiner trees by dual ascent (Wong, 1984).

Take a terminal that edges without a price left do not yet connect to the root. The vertices that reach it over
such edges form a cut, which every tree must enter: raise the bound by the least price on the edges into the cut,
and lower the prices of all of them by as much.
"""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices, Ints, Singles
from polycast.place.digraph import Digraph

# Sums of floats may end a little high: by this share the bound stays below them.
ROUNDING = 1e-12

CONNECTED = -1

# The column of an edge for which no account is kept; others may well be negative.
UNASKED = -(2**62)


class Ascent(NamedTuple):
    """How far a dual ascent has come.

    Parameters
    ----------
    bound : (1,)
        What every tree costs at least.
    price : (edges,)
        What is left of the weight of each edge. A tree that takes an edge costs at least the bound and that.
    size : (terminals,)
        How large the cut of each terminal was when last seen; ``CONNECTED`` once nothing cuts it off.
    member : (vertices,)
        Room for marking a cut.
    account, column, place
        Who has paid for what: terminal `i` has paid ``account[column[edge] + place[i]]`` for an
        edge, unless the column is ``UNASKED``. Nobody asks if there are no columns.
    """

    bound: Floats
    price: Floats
    size: Ints
    member: Flags
    account: Singles
    column: Ints
    place: Ints


@kernel
def dual_ascent(graph: Digraph, root: int, terminals: Indices) -> tuple[float, Floats]:
    """A bound that no tree from the root to all terminals undercuts, and the prices left on the edges.

    The edges without a price connect the root to all terminals, which must be in its reach.
    """
    ascent = begin_ascent(graph, root, terminals)
    ascend(graph, root, terminals, ascent, np.inf)
    return ascent.bound[0] * (1.0 - ROUNDING), ascent.price


@kernel
def begin_ascent(graph: Digraph, root: int, terminals: Indices) -> Ascent:
    size = np.where(terminals == root, CONNECTED, 0)
    member = np.zeros(len(graph.leaving_start) - 1, np.bool_)
    nobody = np.empty(0, np.float32), np.empty(0, np.int64), np.empty(0, np.int64)
    return Ascent(np.zeros(1), graph.weight.copy(), size, member, nobody[0], nobody[1], nobody[2])


@kernel
def ascend(graph: Digraph, root: int, terminals: Indices, ascent: Ascent, effort: float) -> bool:
    """Go on for about so many elementary steps, the smallest cuts first; say whether the end is reached."""
    member, done = ascent.member, 0.0
    queue = [(size, np.int64(i)) for i, size in enumerate(ascent.size) if size != CONNECTED]
    heapify(queue)
    while len(queue) and done < effort:
        size, i = heappop(queue)
        cut = _cut(graph, int(terminals[i]), ascent.price, member)
        if member[root]:
            ascent.size[i] = CONNECTED
        else:
            if len(cut) <= size:
                ascent.bound[0] += _raise(graph, cut, ascent, int(i))
            ascent.size[i] = len(cut)
            heappush(queue, (np.int64(len(cut)), i))
        member[cut] = False
        for vertex in cut:
            done += graph.entering_start[vertex + 1] - graph.entering_start[vertex]
    return len(queue) == 0


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
def _raise(graph: Digraph, cut: Indices, ascent: Ascent, terminal: int) -> float:
    """Lower the prices of all edges into the cut of a terminal by the least of them, and tell that one."""
    least = np.inf
    for change in range(2):
        for vertex in cut:
            for position in range(graph.entering_start[vertex], graph.entering_start[vertex + 1]):
                edge = graph.entering[position]
                if not ascent.member[graph.tail[edge]]:
                    if change:
                        _pay(ascent, edge, terminal, least)
                    else:
                        least = min(least, ascent.price[edge])
    return least


@kernel
def _pay(ascent: Ascent, edge: int, terminal: int, amount: float) -> None:
    ascent.price[edge] -= amount
    if len(ascent.column) and ascent.column[edge] != UNASKED:
        ascent.account[ascent.column[edge] + ascent.place[terminal]] += amount
