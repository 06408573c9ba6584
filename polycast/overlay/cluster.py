"""Two-stage clustering (Overlay, Algorithm 2): users with much traffic between them share a broker.

The measure is the *bandwidth-to-cost ratio*: of two users and a broker, the traffic between the two over what the
way between them over this broker costs; of a user and a broker, the traffic between the user and those that are
there already, over the cost of the user's link.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Flags, Floats, Indices
from polycast.overlay.fit import everyone_fits
from polycast.overlay.search import Search

# A free link is taken to cost this share of the dearest, so that every ratio is a number.
NEARLY_FREE = 1e-9

# Users that are looked at first when a pair is sought, so that most others need not be.
PROMISING = 24


def attach_in_clusters(search: Search) -> None:
    """Offer the attachment of clustering: a pair for every broker, then all others in the order of the input."""
    overlay = search.overlay
    broker = np.full(overlay.users, -1, np.int32)
    load, traffic = np.zeros(overlay.brokers), np.zeros((overlay.brokers, 2, overlay.channels))
    sent = overlay.publishes.sum(axis=1)
    finite = overlay.access_cost[np.isfinite(overlay.access_cost)]
    floor = NEARLY_FREE * float(finite.max(initial=0.0)) or 1.0
    state = (overlay.publishes, overlay.interest, overlay.access_cost, overlay.demand, overlay.room, floor)
    for start, stop in search.slices(overlay.brokers, "choosing a pair for every broker", first=1):
        for b in range(start, stop):
            _seed(*state, sent, load, traffic, broker, b)
    for start, stop in search.slices(overlay.users, "clustering"):
        _assign(*state, load, traffic, broker, start, stop)
    search.offer(everyone_fits(overlay, broker))


@kernel
def _seed(
    publishes: Floats,
    interest: Flags,
    cost: Costs,
    demand: Floats,
    room: Floats,
    floor: float,
    sent: Floats,
    load: Floats,
    traffic: Floats,
    broker: Indices,
    b: int,
) -> None:
    """Attach to a broker the two users, of those without a broker, that have the highest ratio there.

    The traffic of two users is at most what both send. So with a best ratio so far, only users with
    ``sent - best · cost`` high enough for some partner need to be looked at (Dinkelbach).
    """
    free = np.flatnonzero((broker < 0) & (cost[:, b] < np.inf)).astype(np.int32)
    price = np.empty(len(free))
    for i in range(len(free)):
        price[i] = max(cost[free[i], b], floor)
    order = np.argsort(-sent[free] / price, kind="mergesort")
    best, one, other = 0.0, -1, -1
    for width in (min(PROMISING, len(order)), len(order)):
        key = sent[free[order[:width]]] - best * price[order[:width]]
        highest = key.max() if width else 0.0
        hopeful = np.flatnonzero(key + highest >= 0) if best > 0 else np.arange(width)
        for p in range(len(hopeful)):
            i = order[hopeful[p]]
            for q in range(p):
                j = order[hopeful[q]]
                most, way = sent[free[i]] + sent[free[j]], price[i] + price[j]
                if most < best * way or demand[free[i]] + demand[free[j]] > room[b]:
                    continue
                ratio = _between(publishes, interest, free[i], free[j]) / way
                low, high = min(free[i], free[j]), max(free[i], free[j])
                if ratio > best or (ratio == best and ratio > 0 and (low, high) < (one, other)):
                    best, one, other = ratio, low, high
    if one >= 0:
        for user in (one, other):
            _put(publishes, interest, demand, load, traffic, broker, user, b)


@kernel
def _between(publishes: Floats, interest: Flags, one: int, other: int) -> float:
    """The traffic between two users, both ways."""
    total = 0.0
    for c in range(publishes.shape[1]):
        total += publishes[one, c] * interest[other, c] + publishes[other, c] * interest[one, c]
    return total


@kernel
def _put(
    publishes: Floats,
    interest: Flags,
    demand: Floats,
    load: Floats,
    traffic: Floats,
    broker: Indices,
    user: int,
    b: int,
) -> None:
    broker[user] = b
    load[b] += demand[user]
    for c in range(publishes.shape[1]):
        traffic[b, 0, c] += publishes[user, c]
        traffic[b, 1, c] += interest[user, c]


@kernel
def _assign(
    publishes: Floats,
    interest: Flags,
    cost: Costs,
    demand: Floats,
    room: Floats,
    floor: float,
    load: Floats,
    traffic: Floats,
    broker: Indices,
    start: int,
    stop: int,
) -> None:
    """Attach users to the broker of the highest ratio; where no ratio is above 0, to the cheapest."""
    wanted = np.empty(publishes.shape[1])
    for user in range(start, stop):
        if broker[user] >= 0:
            continue
        for c in range(len(wanted)):
            wanted[c] = interest[user, c]
        best, least, chosen = -1.0, np.inf, -1
        for b in range(len(load)):
            price = max(cost[user, b], floor)
            if price < np.inf and load[b] + demand[user] <= room[b]:
                ratio = _dot(publishes[user], traffic[b, 1], wanted, traffic[b, 0]) / price
                if ratio > best or (ratio == best and price < least):
                    best, least, chosen = ratio, price, b
        if chosen >= 0:
            _put(publishes, interest, demand, load, traffic, broker, user, chosen)


@kernel
def _dot(sends: Floats, wanted_there: Floats, wants: Floats, sent_there: Floats) -> float:
    total = 0.0
    for c in range(len(sends)):
        total += sends[c] * wanted_there[c] + wants[c] * sent_there[c]
    return total
