"""What seats cost, and what they would cost with other children.

The total loss is a sum of terms, each of which belongs to one seat, one server or one link:

- *waiting*, of a server: the time in its queue, times the weight of all that is below its seats;
- *near*, of a seat: the time behind its other children and in being checked and sent, times the weight below it;
- *links*: the delay to a seat from the one above, times the weight of its subtree.

So a move changes only the terms of the seats whose children it changes.
"""

from typing import Any

from polycast.kernel import kernel, summing_kernel
from polycast.tree.seats import (
    HOLDER,
    MASS,
    NOBODY,
    OWN,
    PRODUCT,
    SECOND,
    SHARE,
    TAKEN,
    TAKERS,
    TOP,
    Positions,
    Seats,
)


@kernel
def refresh(f: Seats, v: int) -> None:
    """Compute a seat's columns anew from its children's."""
    seat = f.seat
    _begin_lanes(f, v)
    children, grandchildren, squares, children_rate, subtree_weight = 0, 0, 0.0, 0.0, seat[v].weight
    child = seat[v].first
    while child != NOBODY:
        below = seat[child]
        children += 1
        grandchildren += below.children
        squares += float(below.children) * below.children
        children_rate += below.rate
        subtree_weight += below.subtree_weight
        _take(f, v, child)
        child = below.next
    here = seat[v]
    here.children, here.grandchildren, here.squares = children, grandchildren, squares
    here.children_rate, here.subtree_weight = children_rate, subtree_weight
    try_seat(f, v, v, f.nothing, f.nothing)


@kernel
def _begin_lanes(f: Seats, v: int) -> None:
    lane = f.lane
    for x in range(f.width):
        lane[v, TOP, x], lane[v, SECOND, x], lane[v, HOLDER, x] = lane[v, OWN, x], 0.0, NOBODY
        lane[v, TAKERS, x], lane[v, TAKEN, x], lane[v, PRODUCT, x] = 0.0, 0.0, 0.0
        lane[v, MASS, x] = lane[v, SHARE, x]


@kernel
def _take(f: Seats, v: int, child: int) -> None:
    lane = f.lane
    for x in range(f.width):
        top, highest, second = lane[child, TOP, x], lane[v, TOP, x], lane[v, SECOND, x]
        lane[v, TAKERS, x] += 1.0 if top > 0 else 0.0
        lane[v, HOLDER, x] = child if top > highest else lane[v, HOLDER, x]
        lane[v, SECOND, x] = highest if top > highest else max(top, second)
        lane[v, TOP, x] = max(top, highest)
        lane[v, TAKEN, x] += top
        lane[v, MASS, x] += lane[child, MASS, x]
        lane[v, PRODUCT, x] += lane[child, MASS, x] * top


@kernel
def _jostle(
    top: float, takers: float, mass: float, taken: float, product: float, check: float, send: float
) -> float:
    """Twice the time of messages of one object behind other children (equations 4 and 9), weighted."""
    return check * mass * (takers - 1) + send * (mass * taken - product) / top if takers > 0 else 0.0


@kernel
def _close(f: Seats, v: int, row: int, busy: float, jostle: float) -> None:
    """Fill in what follows from a row's sums: the work, the upkeep and the near term."""
    here = f.seat[row]
    server = f.server[f.seat[v].server]
    here.work = server.filter_time * busy + server.transmit_time * here.children_rate
    here.upkeep = _upkeep(f, here) if f.overhead else 0.0
    if here.children == 0 or here.rate <= 0:
        here.near = 0.0
        return
    spent = server.filter_time + server.transmit_time
    below = here.subtree_weight - f.seat[v].weight
    if f.precise:
        here.near = spent * below + jostle
    else:
        others = 0.5 * here.work * (here.children - 1) / (here.rate * here.children)
        here.near = (others + spent) * below


@kernel
def _upkeep(f: Seats, here: Any) -> float:
    """Equation 7, corrected: each possible move of the six kinds counts once."""
    children, grandchildren = float(here.children), float(here.grandchildren)
    moves = (
        2 * grandchildren  # promotions and parent-child swaps
        + children * (children - 1)  # demotions
        + 0.5 * (grandchildren * grandchildren - here.squares)  # cousin swaps
        + 2 * grandchildren * (children - 1)  # nephew adoptions and uncle-nephew swaps
    )
    if children == 0:
        return 0.0
    return float(here.passing * (f.collect * (children + grandchildren) + f.decide * moves))


@summing_kernel
def try_seat(f: Seats, v: int, row: int, out: int, gain: int) -> None:
    """Write into ``row`` what seat `v` would be without the child ``out`` and with the child ``gain``."""
    lane, none = f.lane, f.nothing
    rate, busy, passing, jostle = 0.0, 0.0, 0.0, 0.0
    for x in range(f.width):
        lost, got = lane[out, TOP, x], lane[gain, TOP, x]
        top = max(lane[v, SECOND, x] if lane[v, HOLDER, x] == out else lane[v, TOP, x], got)
        takers = lane[v, TAKERS, x] - (1.0 if lost > 0 else 0.0) + (1.0 if got > 0 else 0.0)
        lane[row, TOP, x] = top
        rate += top
        busy += top * takers
        passing += 1.0 if top > 0 else 0.0
    if f.precise:
        check, send = f.server[f.seat[v].server].filter_time, f.server[f.seat[v].server].transmit_time
        for x in range(f.width):
            a, b = lane[out, TOP, x], lane[gain, TOP, x]
            mass_a, mass_b = lane[out, MASS, x], lane[gain, MASS, x]
            takers = lane[v, TAKERS, x] - (1.0 if a > 0 else 0.0) + (1.0 if b > 0 else 0.0)
            mass = lane[v, MASS, x] - mass_a + mass_b
            product = lane[v, PRODUCT, x] - mass_a * a + mass_b * b
            lane[row, MASS, x] = mass
            below, taken = mass - lane[v, SHARE, x], lane[v, TAKEN, x] - a + b
            jostle += _jostle(lane[row, TOP, x], takers, below, taken, product, check, send)
    f.seat[row].rate, f.seat[row].passing = rate, passing
    _tally(f, v, row, out, none, gain, none)
    _close(f, v, row, busy, 0.5 * jostle)


@summing_kernel
def try_acting(f: Seats, k: int, row: int, out: int, out2: int, gain: int, gain2: int) -> None:
    """The same for the broker that acts: two children may go and come, and what its subtree wants stays."""
    lane, busy, jostle = f.lane, 0.0, 0.0
    for x in range(f.width):
        fewer = (1.0 if lane[out, TOP, x] > 0 else 0.0) + (1.0 if lane[out2, TOP, x] > 0 else 0.0)
        more = (1.0 if lane[gain, TOP, x] > 0 else 0.0) + (1.0 if lane[gain2, TOP, x] > 0 else 0.0)
        busy += lane[k, TOP, x] * (lane[k, TAKERS, x] - fewer + more)
    if f.precise:
        check, send = f.server[f.seat[k].server].filter_time, f.server[f.seat[k].server].transmit_time
        for x in range(f.width):
            a, b, c, d = lane[out, TOP, x], lane[out2, TOP, x], lane[gain, TOP, x], lane[gain2, TOP, x]
            takers = lane[k, TAKERS, x] - (1.0 if a > 0 else 0.0) - (1.0 if b > 0 else 0.0)
            takers += (1.0 if c > 0 else 0.0) + (1.0 if d > 0 else 0.0)
            product = lane[k, PRODUCT, x] - lane[out, MASS, x] * a - lane[out2, MASS, x] * b
            product += lane[gain, MASS, x] * c + lane[gain2, MASS, x] * d
            below, taken = lane[k, MASS, x] - lane[k, SHARE, x], lane[k, TAKEN, x] - a - b + c + d
            jostle += _jostle(lane[k, TOP, x], takers, below, taken, product, check, send)
    if f.overhead:  # then the row may be a child gained by the broker above
        for x in range(f.width):
            lane[row, TOP, x], lane[row, MASS, x] = lane[k, TOP, x], lane[k, MASS, x]
    f.seat[row].rate, f.seat[row].passing = f.seat[k].rate, f.seat[k].passing
    _tally(f, k, row, out, out2, gain, gain2)
    f.seat[row].subtree_weight = f.seat[k].subtree_weight
    _close(f, k, row, busy, 0.5 * jostle)


@kernel
def _tally(f: Seats, v: int, row: int, out: int, out2: int, gain: int, gain2: int) -> None:
    new, old, none = f.seat[row], f.seat[v], f.nothing
    lost, lost2, got, got2 = f.seat[out], f.seat[out2], f.seat[gain], f.seat[gain2]
    new.children = old.children - (out != none) - (out2 != none) + (gain != none) + (gain2 != none)
    new.children_rate = old.children_rate - lost.rate - lost2.rate + got.rate + got2.rate
    new.subtree_weight = (
        old.subtree_weight - lost.subtree_weight - lost2.subtree_weight + got.subtree_weight + got2.subtree_weight
    )
    if f.overhead:
        a, b, c, d = float(lost.children), float(lost2.children), float(got.children), float(got2.children)
        new.grandchildren = old.grandchildren - int(a) - int(b) + int(c) + int(d)
        new.squares = old.squares - a * a - b * b + c * c + d * d


@kernel
def add_up(f: Seats, b: int) -> None:
    """Sum a server's seats."""
    here = f.server[b]
    here.work, here.upkeep, here.rate, here.below = 0.0, 0.0, 0.0, 0.0
    for v in range(here.first_seat, here.end_seat):
        seat = f.seat[v]
        here.work += seat.work
        here.upkeep += seat.upkeep
        here.rate += seat.rate
        here.below += seat.subtree_weight - seat.weight
    here.overload, here.waiting = waiting(f, here.work, here.upkeep, here.rate, here.below)


@kernel
def waiting(f: Seats, work: float, upkeep: float, rate: float, below: float) -> tuple[float, float]:
    """How far a server is overloaded, and its waiting term; of the two, one is 0."""
    if rate <= 0:
        return 0.0, 0.0
    load = work if f.literal else work + upkeep
    if load >= 1:
        return load - 1 + 1e-9, 0.0
    wait = load * work / ((1 - load) * rate) * below
    return 0.0, wait + upkeep * below if f.literal else wait


@kernel
def change_of(f: Seats, v: int, row: int) -> tuple[float, float]:
    """What it changes that seat `v` becomes as it was tried in ``row``: the overload, and the loss."""
    old, new, server = f.seat[v], f.seat[row], f.server[f.seat[v].server]
    overload, wait = waiting(
        f,
        server.work - old.work + new.work,
        server.upkeep - old.upkeep + new.upkeep,
        server.rate - old.rate + new.rate,
        server.below - old.subtree_weight + new.subtree_weight,
    )
    return overload - server.overload, wait - server.waiting + new.near - old.near


@kernel
def settle(f: Seats, order: Positions) -> None:
    """Compute everything from the structure alone; ``order`` as from :func:`walk`."""
    for v in order[::-1]:
        refresh(f, v)
    for b in range(len(f.server)):
        add_up(f, b)


@kernel
def total(f: Seats, order: Positions) -> tuple[float, float]:
    """The overload and the loss, summed over all servers."""
    excess, cost = 0.0, 0.0
    for b in range(len(f.server)):
        excess += f.server[b].overload
        cost += f.server[b].waiting
    for v in order:
        here = f.seat[v]
        cost += here.near
        if here.parent != NOBODY:
            cost += here.hop * here.subtree_weight
    return excess, cost
