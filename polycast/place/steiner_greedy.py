"""Directed Steiner trees by greed, after Charikar, Chekuri and others, levels 1 and 2.

Level 1 joins one terminal after the other, the nearest first: at most `k` times the optimum, for `k` terminals.
Level 2 joins a *bunch* at a time: a vertex, and terminals beyond it, at the least cost per terminal; at most
`2·sqrt(k)` times the optimum. Both let a later way begin anywhere in the tree that stands, which costs nothing.
"""

from heapq import heapify, heappop, heappush

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices, Ints
from polycast.place.digraph import Digraph
from polycast.place.paths import spread, spread_back


@kernel
def steiner_greedy(graph: Digraph, root: int, terminals: Indices, level: int) -> Indices:
    """The edges of a tree from the root to all terminals, which must be in its reach."""
    vertices = len(graph.leaving_start) - 1
    tree = np.zeros(vertices, np.bool_)
    distance = np.full(vertices, np.inf)
    via = np.full(vertices, -1, np.int32)
    edges = [np.int32(0) for _ in range(0)]
    _join(graph, np.array([root], dtype=np.int32), tree, distance, via)
    if level == 1:
        _one_by_one(graph, terminals, tree, distance, via, edges)
    else:
        _bunch_by_bunch(graph, terminals, tree, distance, via, edges)
    return np.array(edges, dtype=np.int32)


@kernel
def _join(graph: Digraph, newcomers: Indices, tree: Flags, distance: Floats, via: Indices) -> None:
    """Note that the tree has grown, and how much nearer it has come to everything else."""
    for vertex in newcomers:
        tree[vertex] = True
        distance[vertex] = 0.0
    spread(graph, newcomers, distance, via)


@kernel
def _approach(graph: Digraph, goal: int, tree: Flags, via: Indices, edges: list[np.int32]) -> Indices:
    """Take the shortest way from the tree to a vertex, and name the vertices on it."""
    newcomers = [np.int32(0) for _ in range(0)]
    vertex = np.int32(goal)
    while not tree[vertex]:
        newcomers.append(vertex)
        edges.append(via[vertex])
        vertex = graph.tail[via[vertex]]
    return np.array(newcomers, dtype=np.int32)


@kernel
def _one_by_one(
    graph: Digraph, terminals: Indices, tree: Flags, distance: Floats, via: Indices, edges: list[np.int32]
) -> None:
    for _ in terminals:
        nearest = terminals[0]
        for terminal in terminals:
            if tree[nearest] or (not tree[terminal] and distance[terminal] < distance[nearest]):
                nearest = terminal
        _join(graph, _approach(graph, nearest, tree, via, edges), tree, distance, via)


@kernel
def _bunch_by_bunch(
    graph: Digraph, terminals: Indices, tree: Flags, distance: Floats, via: Indices, edges: list[np.int32]
) -> None:
    """Take the bunch of least density, until all terminals are served.

    The queue holds a density that was true for each vertex. Serving terminals can only raise it, which is found
    out when it comes up; where the tree has come nearer, the lower one is queued at once.
    """
    start, ends, lengths = _ways_on(graph, terminals)
    queue = [
        (_density(v, start, ends, lengths, tree, distance), np.int64(v))
        for v in range(len(tree))
        if start[v] < start[v + 1] and distance[v] < np.inf
    ]
    heapify(queue)
    while len(queue):
        density, centre = heappop(queue)
        now = _density(int(centre), start, ends, lengths, tree, distance)
        if now == np.inf:
            continue
        if now > density:
            heappush(queue, (now, centre))
            continue
        before = distance.copy()
        _take(graph, int(centre), now, start, ends, lengths, tree, distance, via, edges)
        for vertex in np.flatnonzero(distance < before):
            nearer = _density(int(vertex), start, ends, lengths, tree, distance)
            if nearer < np.inf:
                heappush(queue, (nearer, np.int64(vertex)))
        heappush(queue, (now, centre))


@kernel
def _ways_on(graph: Digraph, terminals: Indices) -> tuple[Ints, Indices, Floats]:
    """For every vertex the terminals that it leads to, nearest first, and how far they are."""
    vertices = len(graph.leaving_start) - 1
    counts = np.zeros(vertices + 1, np.int64)
    found = [(0.0, np.int64(0), np.int32(0)) for _ in range(0)]
    distance = np.full(vertices, np.inf)
    via = np.full(vertices, -1, np.int32)
    for terminal in terminals:
        distance[:] = np.inf
        distance[terminal] = 0.0
        spread_back(graph, np.array([terminal], dtype=np.int32), distance, via)
        for vertex in np.flatnonzero(distance < np.inf):
            counts[vertex + 1] += 1
            found.append((distance[vertex], np.int64(vertex), terminal))
    found.sort()
    start = np.cumsum(counts)
    free = start.copy()
    ends = np.empty(len(found), np.int32)
    lengths = np.empty(len(found))
    for length, vertex, terminal in found:
        ends[free[vertex]] = terminal
        lengths[free[vertex]] = length
        free[vertex] += 1
    return start, ends, lengths


@kernel
def _density(centre: int, start: Ints, ends: Indices, lengths: Floats, tree: Flags, distance: Floats) -> float:
    """The cost per terminal of the best bunch at a vertex; infinite if it leads to none that is missing."""
    cost, served, density = distance[centre], 0, np.inf
    for position in range(start[centre], start[centre + 1]):
        if lengths[position] > density:
            break
        if not tree[ends[position]]:
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
    tree: Flags,
    distance: Floats,
    via: Indices,
    edges: list[np.int32],
) -> None:
    """Add a bunch to the tree: the way to its centre, then the ways to its terminals, nearest first."""
    _join(graph, _approach(graph, centre, tree, via, edges), tree, distance, via)
    served = False
    for position in range(start[centre], start[centre + 1]):
        if served and lengths[position] > density:
            break
        if not tree[ends[position]]:
            _join(graph, _approach(graph, ends[position], tree, via, edges), tree, distance, via)
            served = True
