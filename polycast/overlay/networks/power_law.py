"""Few brokers with very many links, many with few: the Internet's own shape, grown as the Inet generator does.

Inet (Winick and Jamin: *Inet-3.0: Internet topology generator*) draws how many links each node has from a power
law, joins the nodes of two or more links to a tree, hangs those of one link on it, and matches the ends that are
left; every choice favours who has most ends free.
"""

import numpy as np

from polycast.errors import BadInput
from polycast.kernel import kernel
from polycast.overlay.shortest_paths import Floats, Indices
from polycast.overlay.topology import Topology, lengths

# Inet's figures for the Internet's autonomous systems.
EXPONENT = 2.2
LEAVES = 0.3


def power_law(brokers: int, seed: int, exponent: float = EXPONENT, leaves: float = LEAVES) -> Topology:
    """A network whose numbers of links follow a power law; a link costs what it is long.

    Parameters
    ----------
    exponent
        The share of brokers with `d` links falls as `d` to the power of minus this.
    leaves
        The share of brokers that have one link only.
    """
    if brokers < 1:
        raise BadInput("brokers", f"{brokers} is not 1 or more")
    if not 0 <= leaves < 1:
        raise BadInput("leaves", f"{leaves} is not a share from 0 to below 1")
    rng = np.random.default_rng(seed)
    degrees = _degrees(brokers, exponent, leaves, rng)
    order = np.argsort(-degrees, kind="stable").astype(np.int32)
    free = degrees.copy()
    joined = _join(order, free, rng.random(brokers))
    ends = np.concatenate((joined, _match(free, rng)))
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    place = rng.random((brokers, 2))
    return Topology(ends, lengths(place, ends), np.ones(brokers), place)


def _degrees(brokers: int, exponent: float, leaves: float, rng: np.random.Generator) -> Indices:
    """How many links each broker is to have; together at least as many as a tree needs."""
    single = min(round(leaves * brokers), brokers - 1)
    possible = np.arange(2, max(3, brokers))
    shares = possible**-exponent
    degrees = np.ones(brokers, np.int32)
    degrees[single:] = rng.choice(possible, brokers - single, p=shares / shares.sum())
    missing = 2 * (brokers - 1) - int(degrees.sum())
    degrees[-1] += max(0, missing)
    return degrees


@kernel
def _join(order: Indices, free: Indices, draws: Floats) -> Indices:
    """A tree of all brokers, in this order: each joins a broker of the tree, drawn by its number of free ends.

    Those with most links come first, so that no free end is ever wanting.
    """
    ends = np.empty((len(order) - 1, 2), np.int32)
    stubs = np.empty(free.sum() + 1, np.int32)
    count = 0
    for position, broker in enumerate(order):
        if position > 0:
            taken = int(draws[position] * count)
            above = stubs[taken]
            count -= 1
            stubs[taken] = stubs[count]
            ends[position - 1, 0], ends[position - 1, 1] = above, broker
            free[above] -= 1
            free[broker] -= 1
        for _ in range(free[broker]):
            stubs[count] = broker
            count += 1
    return ends


def _match(free: Indices, rng: np.random.Generator) -> Indices:
    """Links between the ends that are left, at random; a broker is not linked to itself."""
    stubs: Indices = np.repeat(np.arange(len(free), dtype=np.int32), free)
    stubs = rng.permutation(stubs)[: len(stubs) // 2 * 2]
    pairs = stubs.reshape(-1, 2)
    apart: Indices = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart
