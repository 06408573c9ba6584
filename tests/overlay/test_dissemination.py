"""Dissemination trees: spanning, made of real routes, counted to the probe; and what an estimate gets right."""

from itertools import pairwise

import numpy as np
import pytest

from polycast.overlay.dissemination import PROBE, discover
from polycast.overlay.estimation import agreement, estimate, hops_of_links
from polycast.overlay.networks import power_law
from polycast.overlay.tapestry import Tapestry

OVERLAY = Tapestry.over(power_law(300, 4))
ROOT = 17


def receivers(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice(300, count, replace=False)


@pytest.mark.parametrize("grow", [discover, estimate])
@pytest.mark.parametrize("count", [0, 1, 40, 300])
def test_the_tree_spans_its_receivers_from_the_root(grow, count):
    found = grow(OVERLAY, ROOT, receivers(count))
    assert found.tree.names[found.tree.root] == OVERLAY.names[ROOT]
    assert set(receivers(count)) <= set(found.brokers.tolist()) | {ROOT}
    assert [OVERLAY.names[broker] for broker in found.brokers] == list(found.tree.names)


def test_every_way_down_a_discovered_tree_is_a_route():
    wanted = receivers(60)
    found = discover(OVERLAY, ROOT, wanted)
    above = found.tree.as_mapping()
    routes = OVERLAY.routes(np.full(60, ROOT), OVERLAY.identifiers[wanted])
    for path, hops in zip(routes.path, routes.hops, strict=True):
        names = [OVERLAY.names[broker] for broker in path[: hops + 1]]
        for parent, child in pairwise(names):
            assert above[child] == parent
    assert (hops_of_links(OVERLAY, found)[1:] == 1).all()


def test_only_receivers_end_a_way():
    wanted = receivers(30)
    for found in (discover(OVERLAY, ROOT, wanted), estimate(OVERLAY, ROOT, wanted)):
        leaves = {found.brokers[i] for i, below in enumerate(found.tree.children) if not below}
        assert leaves <= set(wanted)


def test_probes_are_one_to_a_link_down_and_one_to_a_hop_up():
    wanted = receivers(50)
    found = discover(OVERLAY, ROOT, wanted)
    leaves = [broker for broker, below in zip(found.brokers, found.tree.children, strict=True) if not below]
    up = OVERLAY.routes(leaves, OVERLAY.identifiers[ROOT]).hops.sum()
    assert found.probes == len(found.tree) - 1 + up
    assert found.probe_megabytes == found.probes * PROBE
    assert estimate(OVERLAY, ROOT, wanted).probes == 0


def test_an_estimate_is_right_about_the_roots_own_hops_and_about_some_others():
    wanted = receivers(150)
    real, guess = discover(OVERLAY, ROOT, wanted), estimate(OVERLAY, ROOT, wanted)
    root = OVERLAY.names[ROOT]
    first = {name for name, parent in real.tree.as_mapping().items() if parent == root}
    assert first == {name for name, parent in guess.tree.as_mapping().items() if parent == root}
    assert 0.2 < agreement(real, guess) < 1
    assert agreement(real, real) == 1
    hops = hops_of_links(OVERLAY, guess)
    assert hops[0] == 0
    assert (hops[1:] >= 1).all()
