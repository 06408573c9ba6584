"""The minimum directed Steiner tree, exactly: by subsets of the terminals, or of all vertices, whichever is less.

The first is the recursion of Dreyfus and Wagner in the form of Erickson, Monma and Veinott: the best tree from
a vertex to a set of terminals either splits there, or begins with an edge. With many terminals in a small graph
the second is cheaper: the set of vertices that are reached grows, one vertex after the other.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Floats, Indices
from polycast.place.digraph import Digraph
from polycast.place.paths import spread_back


@kernel
def exact_price(graph: Digraph, terminals: Indices) -> float:
    """About how many elementary steps the cheaper of both ways takes."""
    return min(_price_by_terminals(graph, len(terminals)), _price_by_vertices(graph))


@kernel
def steiner_exact(graph: Digraph, root: int, terminals: Indices) -> Indices:
    """The edges of a minimum tree from the root to all terminals, which must be in its reach.

    Where trees tie, the edges may hold more than one way to a vertex; ``pruned`` leaves a tree.
    """
    if _price_by_terminals(graph, len(terminals)) <= _price_by_vertices(graph):
        return _by_terminals(graph, root, terminals)
    return _by_vertices(graph, root, terminals)


@kernel
def _price_by_terminals(graph: Digraph, terminals: int) -> float:
    vertices = len(graph.leaving_start) - 1
    return 0.5 * 3.0**terminals * vertices + 3.0 * 2.0**terminals * (vertices + len(graph.weight))


@kernel
def _price_by_vertices(graph: Digraph) -> float:
    vertices = len(graph.leaving_start) - 1
    return 2.0**vertices * vertices


@kernel
def _by_terminals(graph: Digraph, root: int, terminals: Indices) -> Indices:
    vertices, everything = len(graph.leaving_start) - 1, (1 << len(terminals)) - 1
    anywhere = np.arange(vertices).astype(np.int32)
    cost = np.full((everything + 1, vertices), np.inf)
    part = np.zeros((everything + 1, vertices), np.int32)  # what the first of two trees serves, where one splits
    via = np.full((everything + 1, vertices), -1, np.int32)  # the edge with which a tree begins, elsewhere
    for subset in range(1, everything + 1):
        if subset & (subset - 1) == 0:
            cost[subset, terminals[_position_of(subset)]] = 0.0
        _split(cost, part, subset)
        spread_back(graph, anywhere, cost[subset], via[subset])
    return _trace(graph, root, everything, part, via)


@kernel
def _position_of(bit: int) -> int:
    position = 0
    while bit >> position > 1:
        position += 1
    return position


@kernel
def _split(cost: Floats, part: Indices, subset: int) -> None:
    """At every vertex, the cheapest two trees that together serve a set of terminals."""
    lowest = subset & -subset
    first = (subset - 1) & subset
    while first:
        if first & lowest:
            for vertex in range(cost.shape[1]):
                both = cost[first, vertex] + cost[subset ^ first, vertex]
                if both < cost[subset, vertex]:
                    cost[subset, vertex] = both
                    part[subset, vertex] = first
        first = (first - 1) & subset


@kernel
def _trace(graph: Digraph, root: int, everything: int, part: Indices, via: Indices) -> Indices:
    edges = [np.int32(0) for _ in range(0)]
    waiting = [(np.int64(everything), np.int64(root))]
    while len(waiting):
        subset, vertex = waiting.pop()
        edge = via[subset, vertex]
        if edge >= 0:
            edges.append(edge)
            waiting.append((subset, np.int64(graph.head[edge])))
        elif part[subset, vertex]:
            first = np.int64(part[subset, vertex])
            waiting.append((first, vertex))
            waiting.append((subset ^ first, vertex))
    return np.array(edges, dtype=np.int32)


@kernel
def _by_vertices(graph: Digraph, root: int, terminals: Indices) -> Indices:
    """Sets are of vertices other than the root; the root takes the place of none, at the end."""
    vertices = len(graph.leaving_start) - 1
    entry, entry_edge = _cheapest_entries(graph, root)
    cost = np.full(1 << (vertices - 1), np.inf)
    latest = np.zeros(1 << (vertices - 1), np.int32)
    cheapest = np.empty((1 << (vertices - 1), vertices - 1))  # the cheapest edge from a set to each vertex
    cost[0] = 0.0
    cheapest[0] = entry[-1]
    for reached in range(1, 1 << (vertices - 1)):
        lowest = _position_of(reached & -reached)
        for vertex in range(vertices - 1):
            cheapest[reached, vertex] = min(cheapest[reached & (reached - 1), vertex], entry[lowest, vertex])
            if reached >> vertex & 1:
                before = reached ^ (1 << vertex)
                grown = cost[before] + cheapest[before, vertex]
                if grown < cost[reached]:
                    cost[reached] = grown
                    latest[reached] = vertex
    return _trace_growth(_cheapest_cover(cost, root, terminals), latest, entry, entry_edge)


@kernel
def _cheapest_entries(graph: Digraph, root: int) -> tuple[Floats, Indices]:
    """The cheapest edge from each vertex (row) into another (column), the root standing last, as a row only."""
    vertices = len(graph.leaving_start) - 1
    entry = np.full((vertices, vertices - 1), np.inf)
    entry_edge = np.full((vertices, vertices - 1), -1, np.int32)
    for edge in range(len(graph.weight)):
        tail, head = graph.tail[edge], graph.head[edge]
        row, column = _rank(tail, root, vertices), _rank(head, root, vertices)
        if head != root and head != tail and graph.weight[edge] < entry[row, column]:
            entry[row, column] = graph.weight[edge]
            entry_edge[row, column] = edge
    return entry, entry_edge


@kernel
def _rank(vertex: int, root: int, vertices: int) -> int:
    """The number of a vertex once the root has moved to the end."""
    if vertex == root:
        return vertices - 1
    return vertex - 1 if vertex > root else vertex


@kernel
def _cheapest_cover(cost: Floats, root: int, terminals: Indices) -> int:
    needed = 0
    for terminal in terminals:
        if terminal != root:
            needed |= 1 << _rank(terminal, root, len(cost))
    best = needed
    for reached in range(len(cost)):
        if reached & needed == needed and cost[reached] < cost[best]:
            best = reached
    return best


@kernel
def _trace_growth(reached: int, latest: Indices, entry: Floats, entry_edge: Indices) -> Indices:
    edges = [np.int32(0) for _ in range(0)]
    while reached:
        vertex = int(latest[reached])
        reached ^= 1 << vertex
        best = len(entry) - 1
        for tail in range(len(entry) - 1):
            if reached >> tail & 1 and entry[tail, vertex] < entry[best, vertex]:
                best = tail
        edges.append(entry_edge[best, vertex])
    return np.array(edges, dtype=np.int32)
