"""Shortest paths: Dijkstra's search from vertices that start at any distance, along the edges or against them."""

from heapq import heapify, heappop, heappush

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Floats, Indices
from polycast.place.digraph import Digraph


@kernel
def spread(graph: Digraph, seeds: Indices, distance: Floats, via: Indices) -> Indices:
    """Lower the distances of all vertices to what the ways from the seeds make possible.

    ``via`` takes the last edge of the shorter way; it keeps its entry where there is none. The answer names
    the vertices that came nearer, some perhaps more than once.
    """
    return _spread(graph.leaving_start, graph.leaving, graph.head, graph.weight, seeds, distance, via)


@kernel
def spread_back(graph: Digraph, seeds: Indices, distance: Floats, via: Indices) -> Indices:
    """The same against the edges: the distances are those *to* the seeds, and ``via`` takes the first edge."""
    return _spread(graph.entering_start, graph.entering, graph.tail, graph.weight, seeds, distance, via)


@kernel
def _spread(
    start: Indices,
    edges: Indices,
    end: Indices,
    weight: Floats,
    seeds: Indices,
    distance: Floats,
    via: Indices,
) -> Indices:
    nearer = [np.int32(0) for _ in range(0)]
    frontier = [(distance[seed], np.int64(seed)) for seed in seeds if distance[seed] < np.inf]
    heapify(frontier)
    while len(frontier):
        near, vertex = heappop(frontier)
        if near > distance[vertex]:
            continue
        for position in range(start[vertex], start[vertex + 1]):
            edge = edges[position]
            far = near + weight[edge]
            if far < distance[end[edge]]:
                distance[end[edge]] = far
                via[end[edge]] = edge
                nearer.append(end[edge])
                heappush(frontier, (far, np.int64(end[edge])))
    return np.array(nearer, dtype=np.int32)


@kernel
def shortest_distances(weight: Floats) -> Floats:
    """The lengths of the shortest ways between all vertices, from a matrix of edges (Floyd and Warshall)."""
    distance = weight.copy()
    for vertex in range(len(distance)):
        distance[vertex, vertex] = 0.0
    for middle in range(len(distance)):
        for tail in range(len(distance)):
            first = distance[tail, middle]
            if first < np.inf:
                for head in range(len(distance)):
                    distance[tail, head] = min(distance[tail, head], first + distance[middle, head])
    return distance
