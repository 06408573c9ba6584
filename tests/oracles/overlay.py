"""Slow truths about overlays: the cost by its definition, and the best attachment by trying all."""

import itertools
import math

import networkx as nx
import numpy as np

from polycast.overlay.attachment import SHARED, Overlay


def demand(overlay: Overlay, user: int) -> float:
    """out_i + in_i."""
    g, s = overlay.publishes, overlay.interest
    received = sum(
        g[other, c]
        for other in range(overlay.users)
        for c in range(overlay.channels)
        if other != user and s[user, c]
    )
    return float(g[user].sum() + received)


def access(overlay: Overlay, broker: np.ndarray) -> float:
    return sum(overlay.access_cost[u, broker[u]] * demand(overlay, u) for u in range(overlay.users))


def core(overlay: Overlay, broker: np.ndarray, kind: str) -> float:
    """Every publisher's rate on every channel, times the weight of the tree to all who want the channel."""
    graph = nx.Graph()
    graph.add_nodes_from(range(overlay.brokers))
    for a, b in itertools.combinations(range(overlay.brokers), 2):
        graph.add_edge(a, b, weight=overlay.core_cost[a, b])
    tree = nx.minimum_spanning_tree(graph)
    total = 0.0
    for c in range(overlay.channels):
        wanting = {int(broker[u]) for u in range(overlay.users) if overlay.interest[u, c]}
        for publisher in np.flatnonzero(overlay.publishes[:, c]):
            ends = wanting | {int(broker[publisher])} if wanting else set()
            weight = subtree(tree, ends) if kind == SHARED else spanning(graph, ends)
            total += overlay.publishes[publisher, c] * weight
    return total


def spanning(graph: nx.Graph, ends: set[int]) -> float:
    return nx.minimum_spanning_tree(graph.subgraph(ends)).size("weight")


def subtree(tree: nx.Graph, ends: set[int]) -> float:
    links = {
        frozenset(link) for a in ends for b in ends for link in itertools.pairwise(nx.shortest_path(tree, a, b))
    }
    return sum(tree.edges[tuple(link)]["weight"] for link in links)


def best(overlay: Overlay, kind: str) -> float:
    """The cost of the cheapest attachment within the capacities; infinite if there is none."""
    least = math.inf
    demands = [demand(overlay, u) for u in range(overlay.users)]
    for attempt in itertools.product(range(overlay.brokers), repeat=overlay.users):
        broker = np.array(attempt, int)
        load = np.bincount(broker, demands, overlay.brokers)
        reach = np.isfinite(overlay.access_cost[np.arange(overlay.users), broker]).all()
        if reach and (load <= overlay.capacity * (1 + 1e-9)).all():
            least = min(least, access(overlay, broker) + core(overlay, broker, kind))
    return least
