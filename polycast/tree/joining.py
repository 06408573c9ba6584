"""The best place for a seat in a tree, found in one walk; and what it changes when a seat joins or leaves.

What joining would change is computed for all places in one walk from the root: on the way down to a place only
one child of each broker grows, so that the change up to a place is the change up to the place above it and one
step more. The walk takes `O(seats · objects)`, whatever the height of the tree.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.tree.costs import add_up, change_of, refresh, try_seat
from polycast.tree.neighbours import better
from polycast.tree.seats import NOBODY, TOP, Positions, Records, Seats, link, unlink
from polycast.tree.servers import Floats

# What a walk knows of each place: what a seat that joins below changes above; how long a message stays there now;
# how long it takes from there to the seat at least, joined here or further below; and whether all that the seat
# wants arrives there already.
REACH = np.dtype(
    [
        ("overload", np.float64),
        ("loss", np.float64),
        ("stay", np.float64),
        ("way", np.float64),
        ("covers", np.bool_),
    ],
    align=True,
)


@kernel
def best_place(f: Seats, placed: Positions, v: int, reach: Records, hasty: bool) -> int:
    """The seat of ``placed`` (parents before children) below which `v` costs least.

    Leaves that cannot be the best are left out. ``hasty`` leaves out whole branches, and whatever could only be
    better if a broker became faster by having more to do, which the model allows for, but hardly.
    """
    none, grown, above = f.nothing, f.nothing + 1, f.nothing + 2
    weight, arriving = f.seat[v].subtree_weight, f.arriving[f.seat[v].server].copy()
    careful = f.precise or f.roots > 1  # a server with seats in other trees may become faster
    if hasty:
        _foresee(f, placed, arriving, reach)
    best, least_overload, least_loss = NOBODY, np.inf, np.inf
    for b in placed:
        a, leaf = f.seat[b].parent, f.seat[b].children == 0
        link_loss = weight * arriving[f.seat[b].server]
        if least_overload <= 0 and a != NOBODY and (hasty or (leaf and reach[a].covers and not careful)):
            below = weight * reach[b].way if hasty else weight * _stay(f, b) + link_loss
            if reach[a].loss + weight * (reach[a].stay + f.seat[b].hop) + below >= least_loss:
                reach[b].loss = np.inf  # which leaves out all that is further below
                continue
        try_seat(f, b, grown, none, v)
        overload, loss = change_of(f, b, grown)
        loss += link_loss
        if not leaf:
            reach[b].stay, reach[b].covers = _stay(f, b), hasty or _covers(f, b, v)
        base_overload, base = 0.0, 0.0
        if a != NOBODY:
            try_seat(f, a, above, b, grown)
            over, more = change_of(f, a, above)
            base = reach[a].loss + weight * f.seat[b].hop
            overload, loss = overload + reach[a].overload + over, loss + base + more
            if f.overhead and not leaf:  # for places further below, b has no child more
                f.seat[grown].children = f.seat[b].children
                try_seat(f, a, above, b, grown)
                over, more = change_of(f, a, above)
            base_overload, base = reach[a].overload + over, base + more
        reach[b].overload, reach[b].loss = base_overload, base
        if better(overload, loss, least_overload, least_loss):
            best, least_overload, least_loss = b, overload, loss
    return best


@kernel
def _covers(f: Seats, b: int, v: int) -> bool:
    """Whether `b` already gets all that `v` wants, so that with `v` below it gets no more."""
    more = 0
    for x in range(f.width):
        more += f.lane[v, TOP, x] > f.lane[b, TOP, x]
    return more == 0


@kernel
def _foresee(f: Seats, placed: Positions, arriving: Floats, reach: Records) -> None:
    """Find how long a message takes from every place to the seat at least, if nobody becomes faster."""
    for b in placed[::-1]:
        way = arriving[f.seat[b].server]
        child = f.seat[b].first
        while child != NOBODY:
            way = min(way, f.seat[child].hop + reach[child].way)
            child = f.seat[child].next
        reach[b].way = _stay(f, b) + way


@kernel
def _stay(f: Seats, k: int) -> float:
    """For how long a message stays in `k`, in the mean over what is below it."""
    here, server = f.seat[k], f.server[f.seat[k].server]
    below = here.subtree_weight - here.weight
    if here.children == 0:
        return float(server.filter_time + server.transmit_time)
    return float(server.waiting / server.below + here.near / below) if below > 0 and server.below > 0 else 0.0


@kernel
def join(f: Seats, v: int, place: int) -> tuple[float, float]:
    """Hang a loose seat below another; return what that adds to the overload and the loss."""
    overload, loss = _path_cost(f, place)
    link(f, v, place)
    _renew_path(f, place)
    after_overload, after_loss = _path_cost(f, place)
    return after_overload - overload, after_loss - loss + f.seat[v].hop * f.seat[v].subtree_weight


@kernel
def leave(f: Seats, v: int) -> tuple[float, float]:
    """Take a seat, with all below it, out of its tree; return what that adds to the overload and the loss."""
    place = f.seat[v].parent
    overload, loss = _path_cost(f, place)
    unlink(f, v)
    f.seat[v].parent = NOBODY
    _renew_path(f, place)
    after_overload, after_loss = _path_cost(f, place)
    return after_overload - overload, after_loss - loss - f.seat[v].hop * f.seat[v].subtree_weight


@kernel
def _renew_path(f: Seats, v: int) -> None:
    while v != NOBODY:
        refresh(f, v)
        add_up(f, f.seat[v].server)
        v = f.seat[v].parent


@kernel
def _path_cost(f: Seats, v: int) -> tuple[float, float]:
    """The terms of all seats from here to the root, and of their servers and links."""
    overload, loss = 0.0, 0.0
    while v != NOBODY:
        here, server = f.seat[v], f.server[f.seat[v].server]
        overload += server.overload
        loss += here.near + server.waiting
        if here.parent != NOBODY:
            loss += here.hop * here.subtree_weight
        v = here.parent
    return overload, loss
