"""Directed Steiner trees by greed, after Charikar, Chekuri and others, levels 1 and 2.

Level 1 joins one terminal after the other, the nearest first: at most `k` times the optimum, for `k` terminals.
Level 2 joins a *bunch* at a time, a centre and terminals beyond it at the least cost per terminal: at most
`2·sqrt(k)` times the optimum. Both let each way begin anywhere in the tree that stands, which only helps.

Somebody else may set ``stop``, an array of one, to end a search that takes too long; its edges are then no tree.
"""

from heapq import heapify, heappop, heappush

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices, Ints
from polycast.place.digraph import Digraph
from polycast.place.paths import spread, spread_back

# Level 2 keeps the distance from every vertex to every terminal that it leads to: 12 bytes each.
MOST_WAYS = 20_000_000


@kernel
def steiner_greedy(graph: Digraph, root: int, terminals: Indices, level: int, stop: Flags) -> Indices:
    """The edges of a tree from the root to all terminals, which must be in its reach.

    Level 2 falls back to level 1 if there are more than ``MOST_WAYS`` pairs of a vertex and a terminal.
    """
    if level > 1:
        start, ends, lengths = _ways_on(graph, terminals, stop)
        if len(start):
            return _by_bunches(graph, root, start, ends, lengths, stop)
    return _by_nearest(graph, root, terminals, stop)


@kernel
def _by_nearest(graph: Digraph, root: int, terminals: Indices, stop: Flags) -> Indices:
    """One search, which starts again from the way to each terminal as soon as it has found it."""
    vertices = len(graph.leaving_start) - 1
    missing = np.zeros(vertices, np.bool_)
    missing[terminals] = True
    distance = np.full(vertices, np.inf)
    via = np.full(vertices, -1, np.int32)
    edges = [np.int32(0) for _ in range(0)]
    distance[root] = 0.0
    frontier = [(0.0, np.int64(root))]
    while len(frontier) and not stop[0]:
        near, vertex = heappop(frontier)
        if near > distance[vertex]:
            continue
        if missing[vertex]:
            missing[vertex] = False
            for joined in _approach(graph, int(vertex), distance, via, edges):
                heappush(frontier, (0.0, np.int64(joined)))
        for position in range(graph.leaving_start[vertex], graph.leaving_start[vertex + 1]):
            edge = graph.leaving[position]
            far = distance[vertex] + graph.weight[edge]
            if far < distance[graph.head[edge]]:
                distance[graph.head[edge]] = far
                via[graph.head[edge]] = edge
                heappush(frontier, (far, np.int64(graph.head[edge])))
    return np.array(edges, dtype=np.int32)


@kernel
def _approach(graph: Digraph, goal: int, distance: Floats, via: Indices, edges: list[np.int32]) -> Indices:
    """Add the shortest way from the tree to a vertex, and name the vertices that it brings into the tree.

    The tree consists of the root and of vertices without an entry in ``via`` that once had one.
    """
    joined = [np.int32(0) for _ in range(0)]
    vertex = np.int32(goal)
    while via[vertex] >= 0:
        joined.append(vertex)
        edges.append(via[vertex])
        distance[vertex] = 0.0
        via[vertex], vertex = np.int32(-1), graph.tail[via[vertex]]
    return np.array(joined, dtype=np.int32)


@kernel
def _by_bunches(graph: Digraph, root: int, start: Ints, ends: Indices, lengths: Floats, stop: Flags) -> Indices:
    """Take the bunch of least density, until all terminals are served.

    The queue holds a density that was true for each centre. Serving terminals can only raise it, which is seen
    when it comes up; where the tree comes nearer it may fall, and the lower one is queued at once.
    """
    vertices = len(graph.leaving_start) - 1
    missing = np.zeros(vertices, np.bool_)
    missing[ends] = True
    missing[root] = False
    distance = np.full(vertices, np.inf)
    via = np.full(vertices, -1, np.int32)
    edges = [np.int32(0) for _ in range(0)]
    distance[root] = 0.0
    spread(graph, np.array([root], dtype=np.int32), distance, via)
    queue = [
        (_density(centre, start, ends, lengths, missing, distance), np.int64(centre))
        for centre in range(vertices)
        if start[centre] < start[centre + 1] and distance[centre] < np.inf
    ]
    heapify(queue)
    while len(queue) and not stop[0]:
        density, centre = heappop(queue)
        now = _density(int(centre), start, ends, lengths, missing, distance)
        if now > density and now < np.inf:
            heappush(queue, (now, centre))
        elif now < np.inf:
            heappush(queue, (now, centre))
            for vertex in _take(graph, int(centre), now, start, ends, lengths, missing, distance, via, edges):
                nearer = _density(int(vertex), start, ends, lengths, missing, distance)
                if nearer < np.inf:
                    heappush(queue, (nearer, np.int64(vertex)))
    return np.array(edges, dtype=np.int32)


@kernel
def _ways_on(graph: Digraph, terminals: Indices, stop: Flags) -> tuple[Ints, Indices, Floats]:
    """For every vertex the terminals that it leads to, nearest first, and how far; all empty if too many."""
    vertices = len(graph.leaving_start) - 1
    found = [(np.int32(0), np.int32(0), 0.0) for _ in range(0)]
    distance = np.full(vertices, np.inf)
    via = np.full(vertices, -1, np.int32)
    for terminal in terminals:
        distance[terminal] = 0.0
        found.append((terminal, terminal, 0.0))
        for vertex in spread_back(graph, np.array([terminal], dtype=np.int32), distance, via):
            if distance[vertex] < np.inf:
                found.append((vertex, terminal, distance[vertex]))
                distance[vertex] = np.inf
        distance[terminal] = np.inf
        if len(found) > MOST_WAYS or stop[0]:
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
    start = np.zeros(vertices + 1, np.int64)
    for vertex, _, _ in found:
        start[vertex + 1] += 1
    start = np.cumsum(start)
    free = start.copy()
    ends, lengths = np.empty(len(found), np.int32), np.empty(len(found))
    for vertex, terminal, length in found:
        ends[free[vertex]], lengths[free[vertex]] = terminal, length
        free[vertex] += 1
    for vertex in range(vertices):
        _sort(ends[start[vertex] : start[vertex + 1]], lengths[start[vertex] : start[vertex + 1]])
    return start, ends, lengths


@kernel
def _sort(ends: Indices, lengths: Floats) -> None:
    """Sort terminals by their distances, in place."""
    if len(ends) > 1:
        order = np.argsort(lengths)
        ends[:] = ends[order]
        lengths[:] = lengths[order]


@kernel
def _density(centre: int, start: Ints, ends: Indices, lengths: Floats, missing: Flags, distance: Floats) -> float:
    """The cost per terminal of the best bunch at a centre; infinite if it leads to none that is missing."""
    cost, served, density = distance[centre], 0, np.inf
    for position in range(start[centre], start[centre + 1]):
        if lengths[position] > density:
            break
        if missing[ends[position]]:
            cost += lengths[position]
            served += 1
            density = cost / served
    return density


@kernel
def _take(
    graph: Digraph,
    centre: int,
    density: float,
    start: Ints,
    ends: Indices,
    lengths: Floats,
    missing: Flags,
    distance: Floats,
    via: Indices,
    edges: list[np.int32],
) -> list[np.int32]:
    """Add a bunch to the tree, centre first, and name all vertices to which the tree has come nearer."""
    nearer = [np.int32(0) for _ in range(0)]
    _join(graph, centre, distance, via, edges, nearer)
    served = False
    for position in range(start[centre], start[centre + 1]):
        if served and lengths[position] > density:
            break
        if missing[ends[position]]:
            _join(graph, int(ends[position]), distance, via, edges, nearer)
            missing[ends[position]] = False
            served = True
    return nearer


@kernel
def _join(
    graph: Digraph, goal: int, distance: Floats, via: Indices, edges: list[np.int32], nearer: list[np.int32]
) -> None:
    joined = _approach(graph, goal, distance, via, edges)
    for vertex in joined:
        nearer.append(vertex)
    for vertex in spread(graph, joined, distance, via):
        nearer.append(vertex)
