"""A lower bound for every attachment: what access costs at least, and what the core costs at least.

Access: users may be split among brokers, and a price on each broker's capacity pays for what is too much there
(Lagrange). Any prices give a bound; a few rounds of subgradient steps find good ones.

Core: the subscribers of a channel need so many brokers that these can hold their traffic; a tree of `k` brokers
has `k - 1` links, and no `k - 1` links without a circle weigh less than the first that Kruskal's algorithm takes.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Floats, Overlay
from polycast.overlay.candidates import Candidates
from polycast.overlay.core import core_of


def lower_bound(overlay: Overlay, candidates: Candidates, known: float, rounds: int) -> float:
    """No attachment costs less than this.

    Parameters
    ----------
    known
        The access cost of some attachment: what the search for prices aims at.
    """
    return access_bound(overlay, candidates, known, rounds) + core_bound(overlay)


def access_bound(overlay: Overlay, candidates: Candidates, known: float, rounds: int) -> float:
    """What access costs at least, whatever the core costs."""
    price = np.zeros(overlay.brokers)
    limited = np.isfinite(overlay.room)
    best, boldness, since = 0.0, 1.0, 0
    for _ in range(rounds):
        used, value = priced(overlay.demand, candidates, price)
        value -= float(price[limited] @ overlay.room[limited])
        since = 0 if value > best * (1 + 1e-7) else since + 1
        best = max(best, value)
        excess = np.where(limited, used - overlay.room, 0.0)
        excess[(price == 0) & (excess < 0)] = 0.0
        steep = float(excess @ excess)
        if steep == 0 or value >= known:
            break
        if since > 5:
            boldness, since = boldness / 2, 0
        price = np.maximum(0.0, price + boldness * (known - value) / steep * excess)
    return best


def core_bound(overlay: Overlay) -> float:
    """What the core costs at least, whatever access costs."""
    links = np.sort(core_of(overlay.core_cost, "per-publisher").hop)[1:]
    weight = np.concatenate(([0.0], np.cumsum(links)))
    room = np.concatenate(([0.0], np.cumsum(-np.sort(-overlay.room))))
    wanted = overlay.demand @ overlay.interest
    brokers = np.searchsorted(room, wanted, "left")
    return float(overlay.rate @ weight[np.clip(brokers - 1, 0, len(links))])


@kernel
def priced(demand: Floats, candidates: Candidates, price: Floats) -> tuple[Floats, float]:
    """What each broker would be used, and all cost, if every user took what is cheapest with the prices."""
    used, total = np.zeros(len(price)), 0.0
    for user in range(len(demand)):
        least, cheapest = candidates.beyond[user], -1
        for k in range(candidates.broker.shape[1]):
            b = candidates.broker[user, k]
            if b >= 0 and candidates.cost[user, k] + price[b] < least:
                least, cheapest = candidates.cost[user, k] + price[b], b
        if least < np.inf:
            total += demand[user] * least
        if cheapest >= 0:
            used[cheapest] += demand[user]
    return used, total
