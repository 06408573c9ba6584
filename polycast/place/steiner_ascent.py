"""A directed Steiner tree among the edges on which dual ascent leaves no price: seldom far from the minimum."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices
from polycast.place.digraph import Digraph, digraph_of
from polycast.place.dual_ascent import dual_ascent
from polycast.place.steiner_greedy import steiner_greedy


@kernel
def steiner_ascent(graph: Digraph, root: int, terminals: Indices) -> tuple[Indices, float]:
    """The edges of a good tree from the root to all terminals, and a bound that no tree undercuts.

    Where the edges cost no more than the bound, the tree is minimal. All terminals must be in reach.
    """
    bound, price = dual_ascent(graph, root, terminals)
    return steiner_free(graph, root, terminals, price, 2, np.zeros(1, np.bool_)), bound


@kernel
def steiner_free(graph: Digraph, root: int, terminals: Indices, price: Floats, level: int, stop: Flags) -> Indices:
    """The edges of a greedy tree that takes only edges without a price; as there, ``stop`` ends the search."""
    free = np.flatnonzero(price <= 0.0).astype(np.int32)
    vertices = len(graph.leaving_start) - 1
    rest = digraph_of(vertices, graph.tail[free], graph.head[free], graph.weight[free])
    edges: Indices = free[steiner_greedy(rest, root, terminals, level, stop)]
    return edges
