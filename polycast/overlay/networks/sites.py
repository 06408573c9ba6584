"""Where brokers and users stand in a network, and what lies between them: the costs that attachment reads."""

from typing import NamedTuple

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.shortest_paths import Floats
from polycast.overlay.topology import Topology


class Sites(NamedTuple):
    """Costs between users and brokers, and between brokers.

    Parameters
    ----------
    access_cost : (users, brokers)
        What a unit costs between a user and a broker.
    core_cost : (brokers, brokers)
        The same between two brokers: symmetric, and metric, because it is the cheapest way.
    """

    access_cost: Floats
    core_cost: Floats


def sites(topology: Topology, brokers: int, users: int, seed: int, access_to_core: float = 1.0) -> Sites:
    """Put brokers on different places of a network and users anywhere, at random.

    Parameters
    ----------
    access_to_core
        The mean cost between a user and a broker, over the mean cost between two brokers, which is 1.
    """
    if not 1 <= brokers <= len(topology):
        raise BadInput("brokers", f"{brokers} brokers do not fit on {len(topology)} places")
    if not topology.connected:
        raise BadInput("network", "it has parts that nothing links")
    rng = np.random.default_rng(seed)
    homes = rng.choice(len(topology), brokers, replace=False).astype(np.int32)
    distance = topology.distances(homes)
    core = distance[:, homes]
    core = _scaled((core + core.T) / 2, 1.0, ~np.eye(brokers, dtype=np.bool_))
    access = np.ascontiguousarray(distance[:, rng.integers(len(topology), size=users)].T)
    return Sites(_scaled(access, access_to_core, np.ones((1, 1), np.bool_)), core)


def _scaled(costs: Floats, mean: float, counted: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Floats:
    """Costs stretched so that the mean of those that count is as given; nothing to stretch stays as it is."""
    total = costs.mean(where=counted) if counted.any() and costs.size else 0.0
    scaled: Floats = costs * (mean / total) if total > 0 else costs
    return scaled
