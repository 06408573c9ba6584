"""A lower bound for every attachment: the better of two ways to count what access and the core cost at least."""

import numpy as np

from polycast.overlay.attachment import Overlay
from polycast.overlay.candidates import Candidates
from polycast.overlay.core import core_of
from polycast.overlay.opening import joint_bound
from polycast.overlay.prices import find_prices


def lower_bound(overlay: Overlay, candidates: Candidates, known: float, rounds: int) -> float:
    """No attachment within the capacities costs less.

    Parameters
    ----------
    known
        The access cost of some attachment: what the search for prices aims at.
    """
    prices = find_prices(overlay, candidates, known, rounds)
    apart = prices.bound + core_bound(overlay)
    return max(apart, joint_bound(overlay, candidates, prices))


def core_bound(overlay: Overlay) -> float:
    """What the core costs at least, whatever access costs.

    The subscribers of a channel need so many brokers that these can hold their traffic; a tree of `k` brokers has
    `k - 1` links, and no `k - 1` links without a circle weigh less than the first that Kruskal's algorithm takes.
    """
    links = np.sort(core_of(overlay.core_cost, "per-publisher").hop)[1:]
    weight = np.concatenate(([0.0], np.cumsum(links)))
    room = np.concatenate(([0.0], np.cumsum(-np.sort(-overlay.room))))
    wanted = overlay.demand @ overlay.interest
    brokers = np.searchsorted(room, wanted, "left")
    return float(overlay.rate @ weight[np.clip(brokers - 1, 0, len(links))])
