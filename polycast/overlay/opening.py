"""A lower bound on access and core together: every broker of a channel is opened at a price, and its users pay.

**What opening costs.** Take the spanning tree of all brokers, and let two parts merge at each of its links, the
shortest first. At each merger one of the two parts' eldest brokers is eldest no longer, and the link's cost
becomes that broker's *weight*; the one that stays eldest to the end gets the dearest link. Then no tree over a
set of brokers, with or without relays, is lighter than the weights in the set, less the dearest link: whoever in
the set is not the eldest there must be linked to an elder, and no way there has only links that are shorter than
its weight.

**Who pays.** A broker is opened for a channel by its first subscriber, at its weight times the channel's rate.
Each user takes the broker that is cheapest to it, its share of all openings included. Any shares that add up to
no more than the openings cost give a bound; users' costs are raised step by step, level with their next cheapest
broker, as long as somebody is left to pay (dual ascent, as Erlenkotter's for warehouses).
"""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import PER_PUBLISHER, Flags, Floats, Indices, Overlay
from polycast.overlay.candidates import Candidates
from polycast.overlay.core import core_of
from polycast.overlay.prices import CAUTION, Prices

# How many times each user's cost is raised to that of its next broker, unless it gains less than this share.
LEVELS, LITTLE = 12, 1e-5


def joint_bound(overlay: Overlay, candidates: Candidates, prices: Prices) -> float:
    """No attachment costs less, access and core together."""
    rate = np.where(overlay.interest.any(axis=0), overlay.rate, 0.0)
    weight, dearest = opening_weights(overlay.core_cost, prices.used)
    unpaid = np.outer(weight, rate)
    cost = np.zeros(overlay.users)
    for _ in range(LEVELS):
        before = cost.sum()
        raise_costs(overlay.demand, overlay.interest, candidates, prices.price, unpaid, cost)
        if cost.sum() <= before * (1 + LITTLE):
            break
    dear = prices.price > 0
    return float(cost.sum() - CAUTION * (prices.price[dear] @ overlay.room[dear] + dearest * rate.sum()))


def opening_weights(core_cost: Floats, used: Floats) -> tuple[Floats, float]:
    """The weight of every broker, and the dearest link of the tree.

    Brokers that are used more are elder: they have more users to pay.
    """
    core = core_of(core_cost, PER_PUBLISHER)
    links = core.order[1:][np.argsort(core.hop[core.order[1:]], kind="stable")]
    return _merge(links, core.above, core.hop, used), float(core.hop.max())


@kernel
def _merge(links: Indices, above: Indices, hop: Floats, used: Floats) -> Floats:
    eldest = np.arange(len(used))
    weight = np.full(len(used), hop.max())
    for broker in links:
        one, other = eldest[broker], eldest[above[broker]]
        elder, younger = (one, other) if used[one] >= used[other] else (other, one)
        weight[younger] = hop[broker]
        for b in range(len(used)):
            if eldest[b] == younger:
                eldest[b] = elder
    return weight


@kernel
def raise_costs(
    demand: Floats, interest: Flags, candidates: Candidates, price: Floats, unpaid: Floats, cost: Floats
) -> None:
    """Raise each user's cost to that of its next broker, as far as ``unpaid``, what is left to pay, allows."""
    each = candidates.broker.shape[1]
    link, left = np.empty(each), np.empty(each)
    for user in range(len(demand)):
        wanted = np.flatnonzero(interest[user])
        now = _links(demand[user], candidates, user, price, link)
        now = max(now, cost[user])
        level = demand[user] * candidates.beyond[user] if candidates.beyond[user] < np.inf else np.inf
        for k in range(each):
            if now * (1 + 1e-12) < link[k] < level:
                level = link[k]
        level = max(level, now)
        for k in range(each):
            if link[k] < level:
                left[k] = 0.0
                for c in wanted:
                    left[k] += unpaid[candidates.broker[user, k], c]
                level = min(level, max(now, link[k]) + left[k])
        for k in range(each):
            share = level - max(now, link[k])
            if share > 0:
                for c in wanted:
                    unpaid[candidates.broker[user, k], c] *= 1 - share / left[k]
        cost[user] = level if level < np.inf else 0.0


@kernel
def _links(demand: float, candidates: Candidates, user: int, price: Floats, link: Floats) -> float:
    """Fill in what a user's link to each candidate costs; return the least of it."""
    least = demand * candidates.beyond[user] if candidates.beyond[user] < np.inf else np.inf
    for k in range(len(link)):
        b = candidates.broker[user, k]
        link[k] = demand * (candidates.cost[user, k] + price[b]) if b >= 0 else np.inf
        least = min(least, link[k])
    return least
