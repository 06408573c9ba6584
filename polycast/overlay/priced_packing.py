"""Packing by prices, ours: where capacities are scarce, greedy packing lets whoever comes last pay for all others.

Prices on capacities tell which broker is best for a user when others want it too. Users take theirs in the order
of what it would cost them to be turned away.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Floats, Indices
from polycast.overlay.candidates import Candidates, candidates_of
from polycast.overlay.fit import everyone_fits
from polycast.overlay.prices import find_prices
from polycast.overlay.search import Search

ROUNDS = 100


def attach_by_prices(search: Search) -> None:
    """Offer an attachment of every user to what is cheapest with the prices; needs one that is known already."""
    overlay, candidates = search.overlay, candidates_of(search)
    assert search.best is not None
    price = find_prices(overlay, candidates, search.best.cost.access, ROUNDS).price
    order = np.argsort(-regrets(overlay.demand, candidates, price), kind="stable").astype(np.int32)
    broker, load = np.full(overlay.users, -1, np.int32), np.zeros(overlay.brokers)
    for start, stop in search.slices(overlay.users, "packing by prices", first=2**20 // overlay.brokers):
        _pack(overlay.access_cost, overlay.demand, overlay.room, price, load, broker, order[start:stop])
    search.offer(everyone_fits(overlay, broker))


@kernel
def regrets(demand: Floats, candidates: Candidates, price: Floats) -> Floats:
    """What each user pays more, prices included, if its cheapest broker turns it away."""
    regret = np.zeros(len(demand))
    for user in range(len(demand)):
        first, second = np.inf, candidates.beyond[user]
        for k in range(candidates.broker.shape[1]):
            b = candidates.broker[user, k]
            cost = candidates.cost[user, k] + price[b] if b >= 0 else np.inf
            if cost < first:
                first, second = cost, min(first, second)
            elif cost < second:
                second = cost
        if first < np.inf:
            regret[user] = demand[user] * (second - first)
    return regret


@kernel
def _pack(
    cost: Costs, demand: Floats, room: Floats, price: Floats, load: Floats, broker: Indices, order: Indices
) -> None:
    for user in order:
        least, cheapest = np.inf, -1
        for b in range(len(load)):
            if cost[user, b] + price[b] < least and load[b] + demand[user] <= room[b]:
                least, cheapest = cost[user, b] + price[b], b
        if cheapest >= 0:
            broker[user] = cheapest
            load[cheapest] += demand[user]
