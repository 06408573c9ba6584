"""A grid: every broker is linked with those left, right, above and below."""

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.networks.draws import link_costs
from polycast.overlay.topology import Topology


def grid(brokers: int, seed: int, low: float = 1.0, high: float = 1.0) -> Topology:
    """A grid as square as can be, its last row perhaps short; costs are uniform from ``low`` to ``high``."""
    if brokers < 1:
        raise BadInput("brokers", f"{brokers} is not 1 or more")
    columns = int(np.ceil(np.sqrt(brokers)))
    position = np.arange(brokers)
    across = position[(position + 1) % columns > 0][:, None] + (0, 1)
    down = position[:, None] + (0, columns)
    ends = np.concatenate((across, down))
    ends = ends[ends[:, 1] < brokers].astype(np.int32)
    place = np.column_stack((position % columns, position // columns)).astype(np.float64)
    return Topology(ends, link_costs(len(ends), low, high, seed), np.ones(brokers), place)
