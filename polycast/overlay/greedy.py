"""Two-stage greedy packing (Overlay, Algorithm 1): each user takes the cheapest broker that has room.

The second stage, the trees between brokers, follows from the attachment.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Floats, Indices
from polycast.overlay.fit import everyone_fits
from polycast.overlay.search import Search


def attach_greedily(search: Search) -> None:
    """Offer the attachment of greedy packing, users in the order of the input."""
    overlay = search.overlay
    broker = np.full(overlay.users, -1, np.int32)
    load, order = np.zeros(overlay.brokers), np.arange(overlay.users, dtype=np.int32)
    for start, stop in search.slices(overlay.users, "packing", first=2**20 // overlay.brokers):
        pack(overlay.access_cost, overlay.demand, overlay.room, load, broker, order[start:stop])
    search.offer(everyone_fits(overlay, broker))


@kernel
def pack(cost: Costs, demand: Floats, room: Floats, load: Floats, broker: Indices, order: Indices) -> int:
    """Attach some users, one after the other, to the cheapest broker with room; return how many found none."""
    homeless = 0
    for user in order:
        least, cheapest = np.inf, -1
        for b in range(len(load)):
            if cost[user, b] < least and load[b] + demand[user] <= room[b]:
                least, cheapest = cost[user, b], b
        broker[user] = cheapest
        if cheapest >= 0:
            load[cheapest] += demand[user]
        else:
            homeless += 1
    return homeless
