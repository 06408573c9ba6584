"""Networks: whole, repeatable, of the shape that they promise; their distances are those of networkx."""

import sys

import networkx
import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.overlay.networks import GENERATORS, grid, heterogeneous, power_law, real, sites, tree, waxman
from polycast.overlay.topology import Topology


def graph_of(topology: Topology) -> networkx.Graph:
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(topology)))
    for (a, b), cost in zip(topology.ends.tolist(), topology.link_cost.tolist(), strict=True):
        graph.add_edge(a, b, weight=cost)
    return graph


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("brokers", [1, 2, 3, 7, 100])
def test_a_network_is_whole_simple_and_repeatable(kind, brokers):
    topology = GENERATORS[kind](brokers, 5)
    assert len(topology) == brokers
    assert topology.connected
    pairs = {frozenset(pair) for pair in topology.ends.tolist()}
    assert len(pairs) == len(topology.ends)
    assert all(len(pair) == 2 for pair in pairs)
    again = GENERATORS[kind](brokers, 5)
    assert np.array_equal(topology.ends, again.ends)
    assert np.array_equal(topology.link_cost, again.link_cost)


@pytest.mark.parametrize("kind", ["power-law", "waxman", "tree"])
def test_another_seed_gives_another_network(kind):
    first, second = GENERATORS[kind](50, 1), GENERATORS[kind](50, 2)
    assert not np.array_equal(first.ends, second.ends)


@pytest.mark.parametrize("kind", GENERATORS)
def test_distances_are_those_of_networkx(kind):
    topology = heterogeneous(GENERATORS[kind](40, 3), "strong", 4)
    truth = dict(networkx.all_pairs_dijkstra_path_length(graph_of(topology)))
    distances = topology.distances()
    for a in range(40):
        for b in range(40):
            assert distances[a, b] == pytest.approx(truth[a][b])


def test_distances_from_some_and_without_a_way():
    apart = Topology(np.array([[0, 1], [2, 3]]), np.array([2.0, 3.0]), np.ones(4))
    assert apart.distances([3]).tolist() == [[np.inf, np.inf, 3.0, 0.0]]
    assert not apart.connected


def test_power_law_has_the_share_of_leaves_and_the_long_tail():
    degrees = power_law(3000, 1).degrees
    assert 0.25 < np.mean(degrees == 1) < 0.35
    assert degrees.max() > 40
    counts = np.bincount(degrees)[2:12]
    slope = np.polyfit(np.log(np.arange(2, 12)), np.log(counts), 1)[0]
    assert -2.7 < slope < -1.7


def test_waxman_links_mostly_neighbours():
    topology = waxman(600, 2)
    assert 3 < topology.degrees.mean() < 6
    pairs = np.random.default_rng(0).random((1000, 2, 2))
    assert topology.link_cost.mean() < 0.6 * np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=1).mean()


def test_a_grid_is_a_grid():
    assert nx_isomorphic(grid(12, 0), networkx.grid_2d_graph(3, 4))


def nx_isomorphic(topology: Topology, graph: networkx.Graph) -> bool:
    return networkx.is_isomorphic(graph_of(topology), graph)


def test_a_tree_bounds_its_children():
    topology = tree(300, 3, children=2)
    assert len(topology.ends) == 299
    assert np.bincount(topology.ends[:, 0]).max() <= 2


def test_weak_and_strong_heterogeneity_stay_in_the_bounds_of_appendix_e():
    weak = heterogeneous(power_law(4000, 1), "weak", 2)
    assert 0.1 <= weak.link_cost.min() <= weak.link_cost.max() <= 100
    assert 0.55 < np.mean(weak.link_cost <= 1) < 0.65
    assert 1 <= weak.compute_cost.min() <= weak.compute_cost.max() <= 1.25
    strong = heterogeneous(power_law(4000, 1), "strong", 2)
    for costs in (strong.link_cost, strong.compute_cost):
        assert 1 <= costs.min() < 3
        assert 98 < costs.max() <= 100


def test_a_real_network():
    abilene = real("topozoo/Abilene")
    assert (len(abilene), len(abilene.ends)) == (11, 14)
    assert "Chicago" in abilene.names
    assert abilene.connected


@pytest.mark.parametrize("key", ["sndlib/polska", "backbone/africa", "topozoo/Bellsouth", "caida/2024-08/1103"])
def test_real_networks_are_whole_and_their_names_differ(key):
    network = real(key)
    assert network.connected
    assert len(set(network.names)) == len(network)


def test_a_real_network_that_is_not_there():
    with pytest.raises(BadInput, match="topohub has none"):
        real("topozoo/Atlantis")


def test_without_topohub_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", None)
    with pytest.raises(BadInput, match=r"pip install 'polycast\[topologies\]'"):
        real("topozoo/Abilene")


def test_sites_have_the_costs_that_were_asked_for():
    network = power_law(200, 1)
    access, core = sites(network, 20, 500, seed=3, access_to_core=2.5)
    assert access.shape == (500, 20)
    assert access.mean() == pytest.approx(2.5)
    assert np.array_equal(core, core.T)
    assert core[~np.eye(20, dtype=bool)].mean() == pytest.approx(1)
    assert (core[:, :, None] + core[None] >= core[:, None, :] - 1e-9).all()


def test_sites_with_one_broker_and_no_users():
    access, core = sites(power_law(10, 1), 1, 0, seed=3)
    assert access.shape == (0, 1)
    assert core.tolist() == [[0.0]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: power_law(0, 1),
        lambda: power_law(5, 1, leaves=1.0),
        lambda: waxman(0, 1),
        lambda: waxman(5, 1, reach=0),
        lambda: grid(0, 1),
        lambda: grid(4, 1, low=2, high=1),
        lambda: tree(5, 1, children=0),
        lambda: heterogeneous(grid(4, 1), "medium", 1),
        lambda: sites(grid(4, 1), 5, 1, 1),
        lambda: Topology(np.array([[0, 9]]), np.ones(1), np.ones(2)),
        lambda: Topology(np.array([[0, 1]]), np.array([np.nan]), np.ones(2)),
        lambda: Topology(np.empty((0, 2)), np.empty(0), np.empty(0)),
    ],
)
def test_what_makes_no_network_is_refused(wrong):
    with pytest.raises(BadInput):
        wrong()
