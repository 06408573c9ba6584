"""Random attachment: what the paper measures all others against (Overlay, section VI.B)."""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Floats, Indices
from polycast.overlay.fit import everyone_fits
from polycast.overlay.search import Search


def attach_randomly(search: Search) -> None:
    """Offer an attachment of every user to any broker that has room for it, each as likely as the other."""
    overlay, rng = search.overlay, search.rng()
    broker = np.full(overlay.users, -1, np.int32)
    load = np.zeros(overlay.brokers)
    for start, stop in search.slices(overlay.users, "drawing brokers"):
        _draw(overlay.access_cost, overlay.demand, overlay.room, load, broker, start, stop, rng)
    search.offer(everyone_fits(overlay, broker))


@kernel
def _draw(
    cost: Costs,
    demand: Floats,
    room: Floats,
    load: Floats,
    broker: Indices,
    start: int,
    stop: int,
    rng: np.random.Generator,
) -> None:
    open_to = np.empty(len(load), np.int32)
    for user in range(start, stop):
        count = 0
        for b in range(len(load)):
            if cost[user, b] < np.inf and load[b] + demand[user] <= room[b]:
                open_to[count] = b
                count += 1
        if count:
            b = open_to[int(rng.random() * count)]
            broker[user] = b
            load[b] += demand[user]
