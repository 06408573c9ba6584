"""A random tree: every broker hangs below an earlier one that has room."""

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.networks.draws import link_costs
from polycast.overlay.topology import Topology


def tree(brokers: int, seed: int, children: int = 4, low: float = 1.0, high: float = 1.0) -> Topology:
    """A tree of random shape; costs are uniform from ``low`` to ``high``.

    Parameters
    ----------
    children
        The most that hang below one broker.
    """
    if brokers < 1 or children < 1:
        raise BadInput("brokers", f"{brokers} brokers with {children} children each make no tree")
    draws = np.random.default_rng(seed).random(brokers)
    room = [0] * children
    ends = np.empty((brokers - 1, 2), np.int32)
    for broker in range(1, brokers):
        taken = int(draws[broker] * len(room))
        ends[broker - 1] = room[taken], broker
        room[taken] = room[-1]
        room.pop()
        room.extend([broker] * children)
    return Topology(ends, link_costs(brokers - 1, low, high, seed), np.ones(brokers))
