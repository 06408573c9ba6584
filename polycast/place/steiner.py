"""A directed Steiner tree: the minimum where it is within reach, else a good one."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Indices
from polycast.place.digraph import Digraph
from polycast.place.steiner_ascent import steiner_ascent
from polycast.place.steiner_exact import exact_price, steiner_exact

# Elementary steps that a minimum tree may take where quality matters more than time: some 5 ms.
EFFORT = 3e6

# A tree that weighs more than a bound by no more than this share is minimal but for rounding.
PROVED = 1e-11


@kernel
def steiner(graph: Digraph, root: int, terminals: Indices, effort: float) -> Indices:
    """The edge by which a tree from the root enters each vertex; -1 outside the tree and at the root.

    The tree is minimal if dual ascent proves it, or if a minimal one takes at most ``effort`` elementary steps.
    All terminals must be in reach.
    """
    edges, bound = steiner_ascent(graph, root, terminals)
    found = entries(graph, root, terminals, edges)
    if weight_of(graph, found) > bound * (1.0 + PROVED) and exact_price(graph, terminals) <= effort:
        return entries(graph, root, terminals, steiner_exact(graph, root, terminals))
    return found


@kernel
def weight_of(graph: Digraph, entry: Indices) -> float:
    """What a tree weighs."""
    weight = 0.0
    for edge in entry:
        if edge >= 0:
            weight += graph.weight[edge]
    return weight


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
