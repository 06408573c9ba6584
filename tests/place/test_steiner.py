from collections.abc import Iterator

import numpy as np
import pytest

from polycast.model.problem import Indices
from polycast.place import steiner_exact
from polycast.place.digraph import Digraph, digraph_of
from polycast.place.dual_ascent import dual_ascent
from polycast.place.steiner import entries, steiner
from polycast.place.steiner_greedy import steiner_greedy
from tests.oracles.steiner import steiner_cost

NEVER = np.zeros(1, np.bool_)

Case = tuple[Digraph, int, Indices]


def matrix_of(graph: Digraph) -> np.ndarray:
    vertices = len(graph.leaving_start) - 1
    weight = np.full((vertices, vertices), np.inf)
    np.minimum.at(weight, (graph.tail, graph.head), graph.weight)
    return weight


def random_case(rng: np.random.Generator, vertices: int, most_terminals: int) -> Case:
    """Sparse and dense graphs, with loops, parallel edges, edges that cost nothing, and terminals in reach."""
    edges = int(rng.integers(1, vertices * vertices + 1))
    tail, head = rng.integers(0, vertices, (2, edges)).astype(np.int32)
    weight = rng.integers(0, 6, edges).astype(float) if rng.integers(2) else rng.uniform(0, 9, edges)
    graph = digraph_of(vertices, tail, head, weight)
    root = int(rng.integers(vertices))
    reach = {root}
    while more := {h for t, h in zip(tail.tolist(), head.tolist(), strict=True) if t in reach} - reach:
        reach |= more
    count = int(rng.integers(0, min(most_terminals, len(reach)) + 1))
    return graph, root, rng.choice(sorted(reach), count, replace=False).astype(np.int32)


def cases(count: int, vertices: int, most_terminals: int) -> Iterator[tuple[Case, float]]:
    """Random cases, and what their minimum trees cost."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        case = random_case(rng, int(rng.integers(1, vertices + 1)), most_terminals)
        graph, root, terminals = case
        yield case, steiner_cost(matrix_of(graph), frozenset({root}), frozenset(terminals.tolist()))


def cost_of_tree(case: Case, entry: Indices) -> float:
    """Check that the entries form a tree from the root to all terminals, and add it up."""
    graph, root, terminals = case
    assert entry[root] == -1
    for vertex in terminals.tolist():
        steps = 0
        while vertex != root:
            assert entry[vertex] >= 0
            assert graph.head[entry[vertex]] == vertex
            vertex, steps = graph.tail[entry[vertex]], steps + 1
            assert steps < len(entry)
    return float(graph.weight[entry[entry >= 0]].sum())


@pytest.mark.parametrize("way", [steiner_exact._by_terminals, steiner_exact._by_vertices])
def test_both_exact_ways_find_the_minimum(way) -> None:
    for case, optimum in cases(1500, 7, 5):
        entry = entries(*case, way(*case))
        assert cost_of_tree(case, entry) == pytest.approx(optimum, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("level", "factor"), [(1, lambda k: k), (2, lambda k: 2 * k**0.5)])
def test_greed_keeps_its_guarantee(level: int, factor) -> None:
    for case, optimum in cases(1500, 8, 6):
        cost = cost_of_tree(case, entries(*case, steiner_greedy(*case, level, NEVER)))
        assert optimum - 1e-9 <= cost <= factor(max(1, len(case[2]))) * optimum + 1e-9


def test_dual_ascent_never_exceeds_the_minimum() -> None:
    tight = 0
    for case, optimum in cases(1500, 8, 6):
        bound, price = dual_ascent(*case)
        assert bound <= optimum * (1 + 1e-12)
        assert (price >= 0).all()
        tight += bound >= optimum * (1 - 1e-9)
    assert tight > 1000


def test_dual_ascent_leaves_edges_that_connect_all_terminals() -> None:
    for seed in range(200):
        graph, root, terminals = random_case(np.random.default_rng(seed), 30, 12)
        _, price = dual_ascent(graph, root, terminals)
        free = price <= 0
        inside = digraph_of(30, graph.tail[free], graph.head[free], graph.weight[free])
        case = inside, root, terminals
        cost_of_tree(case, entries(*case, steiner_greedy(*case, 1, NEVER)))


def test_what_is_too_much_for_the_exact_ways_is_left_to_greed() -> None:
    for seed in range(100):
        case = random_case(np.random.default_rng(seed), 40, 25)
        bound, _ = dual_ascent(*case)
        costs = [cost_of_tree(case, steiner(*case, effort)) for effort in (0.0, 1e4, 1e6)]
        assert costs[0] >= costs[-1] - 1e-9
        assert min(costs) >= bound
