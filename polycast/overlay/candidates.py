"""The brokers that a user may well attach to: its cheapest few, or, where there are not too many, all."""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Floats, Indices, Overlay
from polycast.overlay.search import Search

# A user has all brokers as candidates while that makes no more pairs than this, else its 16 cheapest.
PAIRS, FEW = 2**22, 16


class Candidates(NamedTuple):
    """
    Parameters
    ----------
    broker : (u, k)
        The candidates of each user, cheapest first; -1 where there are no more that have the size for it.
    cost : (u, k)
        What a unit of traffic costs there; infinite where there is none.
    beyond : (u,)
        What it costs at the cheapest broker that is no candidate; infinite if there is none.
    """

    broker: Indices
    cost: Costs
    beyond: Floats


def candidates_of(search: Search, few: int = 0) -> Candidates:
    """The candidates of every user: ``few`` or more."""
    overlay = search.overlay
    each = max(few, count_for(overlay))
    broker = np.full((overlay.users, each), -1, np.int32)
    cost = np.full((overlay.users, each), np.inf, overlay.access_cost.dtype)
    found = Candidates(broker, cost, np.full(overlay.users, np.inf))
    for start, stop in search.slices(overlay.users, "looking for brokers near", first=2**20 // overlay.brokers):
        _choose(overlay.access_cost, overlay.demand, overlay.room, found, start, stop)
    return found


def count_for(overlay: Overlay) -> int:
    """How many candidates each user has."""
    return overlay.brokers if overlay.users * overlay.brokers <= PAIRS else min(FEW, overlay.brokers)


@kernel
def _choose(cost: Costs, demand: Floats, room: Floats, found: Candidates, start: int, stop: int) -> None:
    """Insert brokers one by one into each user's list, which is kept in order."""
    last = found.broker.shape[1] - 1
    for user in range(start, stop):
        brokers, costs = found.broker[user], found.cost[user]
        for b in range(cost.shape[1]):
            c = cost[user, b]
            if not c < max(found.beyond[user], costs[last]) or demand[user] > room[b]:
                continue
            if not c < costs[last]:
                found.beyond[user] = min(found.beyond[user], c)
                continue
            found.beyond[user] = min(found.beyond[user], costs[last])
            at = last
            while at > 0 and c < costs[at - 1]:
                brokers[at], costs[at] = brokers[at - 1], costs[at - 1]
                at -= 1
            brokers[at], costs[at] = b, c
