"""A directed Steiner tree: the minimum where it is within reach, else a good one."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Indices
from polycast.place.digraph import Digraph
from polycast.place.steiner_exact import exact_price, steiner_exact
from polycast.place.steiner_greedy import steiner_greedy

# Elementary steps that a minimum tree may take where quality matters more than time: some 5 ms.
EFFORT = 3e6


@kernel
def steiner(graph: Digraph, root: int, terminals: Indices, effort: float) -> Indices:
    """The edge by which a tree from the root enters each vertex; -1 outside the tree and at the root.

    The tree is minimal if that takes at most ``effort`` elementary steps. All terminals must be in reach.
    """
    if exact_price(graph, terminals) <= effort:
        return entries(graph, root, terminals, steiner_exact(graph, root, terminals))
    return entries(graph, root, terminals, steiner_greedy(graph, root, terminals, 2, np.zeros(1, np.bool_)))


@kernel
def entries(graph: Digraph, root: int, terminals: Indices, edges: Indices) -> Indices:
    """Of these edges, those of a tree from the root that ends at terminals only, by the vertex that they enter."""
    vertices = len(graph.leaving_start) - 1
    chosen = np.zeros(len(graph.weight), np.bool_)
    chosen[edges] = True
    found = np.full(vertices, -1, np.int32)
    reached = [np.int64(root)]
    for vertex in reached:
        for position in range(graph.leaving_start[vertex], graph.leaving_start[vertex + 1]):
            edge = graph.leaving[position]
            head = graph.head[edge]
            if chosen[edge] and found[head] < 0 and head != root:
                found[head] = edge
                reached.append(np.int64(head))
    return _useful(graph, terminals, found)


@kernel
def _useful(graph: Digraph, terminals: Indices, found: Indices) -> Indices:
    """The entries on the ways to terminals."""
    useful = np.full(len(found), -1, np.int32)
    for terminal in terminals:
        vertex = terminal
        while found[vertex] >= 0 and useful[vertex] < 0:
            useful[vertex] = found[vertex]
            vertex = graph.tail[found[vertex]]
    return useful
