"""The state that every search works on: who sits where, and what each seat costs.

A *seat* is one server's place in one tree; a server that takes part in many trees has a seat in each, and all its
seats share its one processor. The total loss is a sum of terms, each of which belongs to one seat, one server or
one link:

- *waiting*, of a server: the time in its queue, times the weight of all that is below its seats;
- *near*, of a seat: the time behind its other children and in being checked and sent, times the weight below it;
- *links*: the delay to a seat from the one above, times the weight of its subtree.

So a move changes only the terms of the seats whose children it changes. Columns hold, for each seat, sums and
maxima over its children, enough to know in constant time what a seat would cost with one child fewer or more.

Each seat is a row. Behind the last seat follow the row NOTHING, all zeros, which stands for "no child", and a few
rows on which seats are tried as they would be after a move.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.tree.servers import Floats

Records = npt.NDArray[np.void]
Positions = npt.NDArray[np.int32]

NOBODY = -1
SCRATCH = 5  # NOTHING and four rows to try seats on

SEAT = np.dtype(
    [
        ("server", np.int32),
        ("parent", np.int32),
        ("first", np.int32),  # the children form a list: the first, and each one's next and previous
        ("next", np.int32),
        ("previous", np.int32),
        ("children", np.int32),
        ("grandchildren", np.int32),
        ("passing", np.int32),  # objects that pass through, |O^m|
        ("hop", np.float64),  # the delay of the link from the parent
        ("squares", np.float64),  # of the children's numbers of children
        ("weight", np.float64),  # u
        ("subtree_weight", np.float64),  # u^c
        ("rate", np.float64),  # r^m, over all objects
        ("children_rate", np.float64),  # the sum of the children's r^m
        ("work", np.float64),  # share of the processor that messages take
        ("upkeep", np.float64),  # share of the processor that adapting takes
        ("near", np.float64),
    ],
    align=True,
)

# One per seat and object.
LANE = np.dtype(
    [
        ("rate", np.float64),  # what the server itself wants
        ("top", np.float64),  # r^m_x, the highest rate in the subtree
        ("second", np.float64),  # the highest without the holder of the top
        ("holder", np.int32),  # the child that holds the top; NOBODY: the server itself
        ("takers", np.int32),  # children that take the object
        ("share", np.float64),  # r_x / |O|
        ("mass", np.float64),  # the sum of the shares over the subtree
        ("taken", np.float64),  # the sum of the children's tops
        ("product", np.float64),  # the sum of the children's mass times top
    ],
    align=True,
)

SERVER = np.dtype(
    [
        ("filter_time", np.float64),
        ("transmit_time", np.float64),
        ("work", np.float64),
        ("upkeep", np.float64),
        ("rate", np.float64),
        ("below", np.float64),
        ("overload", np.float64),
        ("waiting", np.float64),
        ("first_seat", np.int32),  # its seats stand side by side
        ("end_seat", np.int32),
    ],
    align=True,
)


class Seats(NamedTuple):
    """All seats of all trees, as the kernels take them."""

    seat: Any
    lane: Any
    server: Any
    arriving: Floats
    width: int  # objects per tree
    nothing: int  # the row that stands for no child
    roots: int  # the first seats are the source's, one for each tree
    precise: bool
    overhead: bool
    literal: bool
    collect: float  # t^e / T_e
    decide: float  # t^d / T_d


@kernel
def hop(f: Seats, above: int, below: int) -> float:
    """The delay of the link between two seats."""
    return float(f.arriving[f.seat[below].server, f.seat[above].server])


@kernel
def refresh(f: Seats, v: int) -> None:
    """Compute a seat's columns anew from its children's."""
    w, seat, lane = f.width, f.seat, f.lane
    for x in range(v * w, v * w + w):
        here = lane[x]
        here.top, here.second, here.holder = here.rate, 0.0, NOBODY
        here.takers, here.taken, here.product, here.mass = 0, 0.0, 0.0, here.share
    children, grandchildren, squares, children_rate, subtree_weight = 0, 0, 0.0, 0.0, seat[v].weight
    child = seat[v].first
    while child != NOBODY:
        below = seat[child]
        children += 1
        grandchildren += below.children
        squares += float(below.children) * below.children
        children_rate += below.rate
        subtree_weight += below.subtree_weight
        for x in range(w):
            _take(lane[v * w + x], lane[child * w + x], child)
        child = below.next
    here = seat[v]
    here.children, here.grandchildren, here.squares = children, grandchildren, squares
    here.children_rate, here.subtree_weight = children_rate, subtree_weight
    rate, busy, passing, jostle = 0.0, 0.0, 0, 0.0
    for x in range(v * w, v * w + w):
        top = lane[x].top
        rate += top
        busy += top * lane[x].takers
        passing += top > 0
        if f.precise:
            jostle += _jostle(
                f, v, top, lane[x].takers, lane[x].mass - lane[x].share, lane[x].taken, lane[x].product
            )
    here.rate, here.passing = rate, passing
    _close(f, v, v, busy, jostle)


@kernel
def _take(here: Any, below: Any, child: int) -> None:
    top = below.top
    if top > 0:
        here.takers += 1
    if top > here.top:
        here.second, here.top, here.holder = here.top, top, child
    elif top > here.second:
        here.second = top
    here.taken += top
    here.mass += below.mass
    here.product += below.mass * top


@kernel
def _jostle(f: Seats, v: int, top: float, takers: int, mass: float, taken: float, product: float) -> float:
    """The time of a message of one object behind other children (equations 4 and 9), weighted."""
    if top <= 0 or takers == 0:
        return 0.0
    here = f.server[f.seat[v].server]
    sent = here.transmit_time * (mass * taken - product) / top
    return float(0.5 * (here.filter_time * mass * (takers - 1) + sent))


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


@kernel
def try_seat(f: Seats, v: int, row: int, out: int, gain: int) -> None:
    """Write into ``row`` what seat `v` would be without the child ``out`` and with the child ``gain``."""
    w, lane = f.width, f.lane
    rate, busy, passing, jostle = 0.0, 0.0, 0, 0.0
    for x in range(w):
        old, lost, got = lane[v * w + x], lane[out * w + x], lane[gain * w + x]
        top = old.second if old.holder == out else old.top
        top = max(top, got.top)
        takers = old.takers - (lost.top > 0) + (got.top > 0)
        lane[row * w + x].top = top
        rate += top
        busy += top * takers
        passing += top > 0
        if f.precise:
            mass = old.mass - lost.mass + got.mass
            lane[row * w + x].mass = mass
            taken = old.taken - lost.top + got.top
            product = old.product - lost.mass * lost.top + got.mass * got.top
            jostle += _jostle(f, v, top, takers, mass - old.share, taken, product)
    f.seat[row].rate, f.seat[row].passing = rate, passing
    _tally(f, v, row, out, f.nothing, gain, f.nothing)
    _close(f, v, row, busy, jostle)


@kernel
def try_acting(f: Seats, k: int, row: int, out: int, out2: int, gain: int, gain2: int) -> None:
    """The same for the broker that acts: two children may go and come, and what its subtree wants stays."""
    w, lane = f.width, f.lane
    busy, jostle = 0.0, 0.0
    for x in range(w):
        old, lost, lost2 = lane[k * w + x], lane[out * w + x], lane[out2 * w + x]
        got, got2 = lane[gain * w + x], lane[gain2 * w + x]
        takers = old.takers - (lost.top > 0) - (lost2.top > 0) + (got.top > 0) + (got2.top > 0)
        busy += old.top * takers
        lane[row * w + x].top, lane[row * w + x].mass = old.top, old.mass
        if f.precise:
            taken = old.taken - lost.top - lost2.top + got.top + got2.top
            product = old.product - lost.mass * lost.top - lost2.mass * lost2.top
            product += got.mass * got.top + got2.mass * got2.top
            jostle += _jostle(f, k, old.top, takers, old.mass - old.share, taken, product)
    f.seat[row].rate, f.seat[row].passing = f.seat[k].rate, f.seat[k].passing
    _tally(f, k, row, out, out2, gain, gain2)
    f.seat[row].subtree_weight = f.seat[k].subtree_weight
    _close(f, k, row, busy, jostle)


@kernel
def _tally(f: Seats, v: int, row: int, out: int, out2: int, gain: int, gain2: int) -> None:
    new, old, lost, lost2, got, got2 = (
        f.seat[row],
        f.seat[v],
        f.seat[out],
        f.seat[out2],
        f.seat[gain],
        f.seat[gain2],
    )
    none = f.nothing
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
def link(f: Seats, v: int, parent: int) -> None:
    """Hang a seat below another."""
    seat = f.seat
    first = seat[parent].first
    seat[v].parent, seat[v].previous, seat[v].next = parent, NOBODY, first
    if first != NOBODY:
        seat[first].previous = v
    seat[parent].first = v
    seat[v].hop = hop(f, parent, v)


@kernel
def unlink(f: Seats, v: int) -> None:
    """Take a seat from its parent."""
    seat = f.seat
    before, after = seat[v].previous, seat[v].next
    if before == NOBODY:
        seat[seat[v].parent].first = after
    else:
        seat[before].next = after
    if after != NOBODY:
        seat[after].previous = before


@kernel
def walk(f: Seats, order: Positions) -> int:
    """List all seats that hang in a tree, every parent before its children; return how many."""
    count = 0
    for root in range(f.roots):
        count += walk_from(f, root, order[count:])
    return count


@kernel
def walk_from(f: Seats, root: int, order: Positions) -> int:
    """List a seat and all below it, level by level; return how many."""
    seat, done, count = f.seat, 0, 1
    order[0] = root
    while done < count:
        child = seat[order[done]].first
        while child != NOBODY:
            order[count] = child
            count += 1
            child = seat[child].next
        done += 1
    return count


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
