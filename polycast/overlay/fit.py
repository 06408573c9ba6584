"""Make everyone fit: what a method does when some user finds no broker with room, or nobody ever can.

Whether users fit is bin packing, so no fast method can always tell. Three ways are tried, each slower than the one
before: the largest users first; moving and swapping users until no broker is over; and, where that is small
enough, an integer program, which knows for certain.
"""

from typing import Any

import highspy
import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Floats, Indices, Overlay

# Users times brokers that the integer program may have, and the seconds it may take.
CERTAIN, PATIENCE = 5_000, 10.0

# The solver takes no smaller factors.
NEGLIGIBLE = 1e-9


def everyone_fits(overlay: Overlay, broker: Indices) -> Indices:
    """Give brokers to users that have none (-1), moving others if need be; NoSolution if that does not succeed."""
    if (broker >= 0).all():
        return broker
    _check_possible(overlay)
    largest_first = np.argsort(-overlay.demand, kind="stable").astype(np.int32)
    first_try = np.full(overlay.users, -1, np.int32)
    load = np.zeros(overlay.brokers)
    homeless = pack_somehow(overlay.access_cost, overlay.demand, overlay.room, load, first_try, largest_first)
    if not homeless:
        return first_try
    if _unload(overlay.access_cost, overlay.demand, overlay.room, first_try):
        return first_try
    return _certain(overlay)


def _check_possible(overlay: Overlay) -> None:
    """Three reasons why nothing can fit that are seen at once."""
    usable = np.isfinite(overlay.access_cost)
    for user in np.flatnonzero(~usable.any(axis=1))[:1]:
        raise NoSolution(f'none exists: the user "{overlay.user_name(user)}" cannot use any broker')
    largest = np.where(usable, overlay.room, -1.0).max(axis=1)
    for user in np.flatnonzero(overlay.demand > largest)[:1]:
        raise NoSolution(f'none exists: no broker is large enough for the user "{overlay.user_name(user)}"')
    demand, room = overlay.demand.sum(), overlay.room.sum()
    if demand > room:
        raise NoSolution(
            f"none exists: the users' traffic, {demand:.6g}, is more than all brokers can take, {room:.6g}"
        )


def _certain(overlay: Overlay) -> Indices:
    """Ask an integer program for any attachment that fits, until one does by our own measure."""
    if overlay.users * overlay.brokers > CERTAIN:
        raise NoSolution("this method found no attachment within the capacities; there may be one")
    model, chosen = _program(overlay)
    while True:
        model.run()
        if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            raise NoSolution(
                "none exists: the users do not fit into the brokers' capacities, however they are attached"
            )
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise NoSolution("this method found no attachment within the capacities; there may be one")
        found = [(u, b) for (u, b), x in chosen.items() if model.val(x) > 0.5]
        broker = np.array([b for _, b in found], np.int32)
        over = np.flatnonzero(np.bincount(broker, overlay.demand, overlay.brokers) > overlay.room)
        if not len(over):
            return broker
        for full in over:  # the solver takes a little too much for rounding
            crowd = [chosen[u, b] for u, b in found if b == full]
            model.addConstr(sum(crowd) <= len(crowd) - 1)


def _program(overlay: Overlay) -> tuple[Any, dict[tuple[int, int], Any]]:
    """Every user hangs on one broker, in shares of its room: the solver's tolerances are absolute."""
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    model.setOptionValue("time_limit", PATIENCE)
    usable = np.isfinite(overlay.access_cost) & (overlay.demand[:, None] <= overlay.room)
    chosen = {(u, b): model.addBinary() for u, b in np.argwhere(usable).tolist()}
    for u in range(overlay.users):
        model.addConstr(sum(x for (user, _), x in chosen.items() if user == u) == 1)
    for b in np.flatnonzero(np.isfinite(overlay.room)):
        shares = [
            float(overlay.demand[u] / overlay.room[b]) * x
            for (u, at), x in chosen.items()
            if at == b and overlay.demand[u] > NEGLIGIBLE * overlay.room[b]
        ]
        if shares:
            model.addConstr(sum(shares) <= 1)
    return model, chosen


@kernel
def pack_somehow(cost: Costs, demand: Floats, room: Floats, load: Floats, broker: Indices, order: Indices) -> int:
    """The cheapest broker with room for each; who finds none goes where the least is too much."""
    homeless = 0
    for user in order:
        least, cheapest, slightest, roomiest = np.inf, -1, np.inf, -1
        for b in range(len(load)):
            if cost[user, b] < np.inf:
                excess = load[b] + demand[user] - room[b]
                if excess <= 0 and cost[user, b] < least:
                    least, cheapest = cost[user, b], b
                if excess < slightest:
                    slightest, roomiest = excess, b
        homeless += cheapest < 0
        broker[user] = cheapest if cheapest >= 0 else roomiest
        load[broker[user]] += demand[user]
    return homeless


@kernel
def _unload(cost: Costs, demand: Floats, room: Floats, broker: Indices) -> bool:
    """Move and swap users, always so that less is too much in sum; whether no broker is over in the end."""
    load = np.zeros(len(room))
    for user in range(len(broker)):
        load[broker[user]] += demand[user]
    improved = True
    while improved:
        improved = False
        for user in range(len(broker)):
            a = broker[user]
            if load[a] > room[a] and _relieve(cost, demand, room, load, broker, user):
                improved = True
    return bool(np.all(load <= room))


@kernel
def _relieve(cost: Costs, demand: Floats, room: Floats, load: Floats, broker: Indices, user: int) -> bool:
    """Take a user away from a broker that is over, or swap it with a smaller one, if that helps."""
    a, w = broker[user], demand[user]
    for b in range(len(load)):
        if b != a and cost[user, b] < np.inf and _excess(load, room, a, b, w) < _excess(load, room, a, b, 0.0):
            broker[user] = b
            load[a] -= w
            load[b] += w
            return True
    for other in range(len(broker)):
        b = broker[other]
        shift = w - demand[other]
        if b != a and shift > 0 and cost[user, b] < np.inf and cost[other, a] < np.inf:
            before = _excess(load, room, a, b, 0.0)
            if _excess(load, room, a, b, shift) < before - 1e-12 * before:
                broker[user], broker[other] = b, a
                load[a] -= shift
                load[b] += shift
                return True
    return False


@kernel
def _excess(load: Floats, room: Floats, a: int, b: int, shift: float) -> float:
    return float(max(0.0, load[a] - shift - room[a]) + max(0.0, load[b] + shift - room[b]))
