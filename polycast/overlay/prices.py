"""Prices on brokers' capacities: what makes users share brokers as well as if they could be split (Lagrange).

With a price on each unit of traffic at a broker, users are free to take what is cheapest. The right prices leave
no broker with too much. Any prices give a bound on what access costs; a few rounds of subgradient steps find good
ones.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Floats, Overlay
from polycast.overlay.candidates import Candidates

# What a bound takes off again counts a little more: what remains must not exceed the truth by rounding.
CAUTION = 1 + 1e-12


class Prices(NamedTuple):
    """
    Parameters
    ----------
    price
        Of a unit of traffic at each broker, besides what the link costs.
    used
        What each broker would be used if every user took what is cheapest with the prices.
    bound
        What access costs at least, whatever the core costs.
    """

    price: Floats
    used: Floats
    bound: float


def find_prices(overlay: Overlay, candidates: Candidates, known: float, rounds: int) -> Prices:
    """Good prices; ``known`` is the access cost of some attachment, which the search aims at."""
    price = np.zeros(overlay.brokers)
    limited = np.isfinite(overlay.room)
    best = Prices(price, price, 0.0)
    boldness, since = 1.0, 0
    for _ in range(rounds):
        used, value = priced(overlay.demand, candidates, price)
        value -= CAUTION * float(price[limited] @ overlay.room[limited])
        since = 0 if value > best.bound * (1 + 1e-7) else since + 1
        if value >= best.bound:
            best = Prices(price, used, value)
        excess = np.where(limited, used - overlay.room, 0.0)
        excess[(price == 0) & (excess < 0)] = 0.0
        steep = float(excess @ excess)
        if steep == 0 or value >= known:
            break
        if since > 5:
            boldness, since = boldness / 2, 0
        price = np.maximum(0.0, price + boldness * (known - value) / steep * excess)
    return best


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
