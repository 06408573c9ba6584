"""Bounds: no tree is lighter than what it costs to open its brokers, and gaps are small where it matters."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bench_attach import paper_network
from polycast.overlay.attachment import CORES
from polycast.overlay.candidates import candidates_of
from polycast.overlay.core import core_of, span
from polycast.overlay.opening import joint_bound, opening_weights
from polycast.overlay.prices import find_prices
from polycast.overlay.search import Search
from polycast.overlay.solve import solve
from tests.oracles import overlay as truth
from tests.overlay.overlays import odd_overlay, random_overlay


@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1), metric=st.booleans())
@settings(max_examples=80, deadline=None)
def test_no_tree_is_lighter_than_its_openings(core: str, seed: int, metric: bool) -> None:
    rng = np.random.default_rng(seed)
    brokers = int(rng.integers(1, 12))
    overlay = random_overlay(rng, 3, brokers, 1, metric=metric)
    weight, dearest = opening_weights(overlay.core_cost, rng.random(brokers))
    links = core_of(overlay.core_cost, core)
    order, above, hop = np.empty(brokers, np.int32), np.empty(brokers, np.int32), np.empty(brokers)
    for _ in range(20):
        members = rng.random(brokers) < rng.random()
        if members.any():
            tree = span(links, members, order, above, hop)[1]
            assert tree >= (weight[members].sum() - dearest) * (1 - 1e-9) - 1e-9
    whole = nx.from_numpy_array(overlay.core_cost + 1e-300)
    assert weight.sum() - dearest == pytest.approx(nx.minimum_spanning_tree(whole).size("weight"))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_any_prices_give_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    overlay = odd_overlay(seed, users=5, brokers=3)
    overlay = replace(overlay, capacity=np.where(rng.random(overlay.brokers) < 0.5, np.inf, overlay.capacity))
    candidates = candidates_of(Search(overlay))
    prices = find_prices(overlay, candidates, known=float(rng.exponential(50)), rounds=int(rng.integers(1, 40)))
    optimum = min(truth.best(overlay, core) for core in CORES)
    slack = 1e-9 * max(1.0, optimum)
    assert prices.bound <= optimum + slack
    assert joint_bound(overlay, candidates, prices) <= optimum + slack


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_where_all_can_be_free_the_bound_is_nothing_without_a_rest_from_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    overlay = random_overlay(rng, 5, 2, 4)
    access = np.stack((np.zeros(5), overlay.access_cost[:, 1]), axis=1)
    overlay = replace(overlay, access_cost=access, capacity=np.full(2, overlay.demand.sum()))
    candidates = candidates_of(Search(overlay))
    prices = find_prices(overlay, candidates, known=float(rng.exponential(50)), rounds=30)
    assert max(prices.bound, joint_bound(overlay, candidates, prices)) <= 0


def test_the_gap_is_small_on_a_network_of_the_papers() -> None:
    assert solve(paper_network(1_000, 10), "local").gap < 0.02
