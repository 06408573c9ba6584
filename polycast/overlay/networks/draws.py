"""Costs of links drawn at random."""

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.shortest_paths import Floats


def link_costs(links: int, low: float, high: float, seed: int) -> Floats:
    """Costs that are uniform between two bounds."""
    if not 0 <= low <= high < np.inf:
        raise BadInput("costs", f"from {low} to {high} is no range of finite costs of 0 or more")
    return np.random.default_rng(seed).uniform(low, high, links)
