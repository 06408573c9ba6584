"""The six moves of a tree (Fidelity, section 3.2.1): what each changes, and how it is done.

A move is its kind and one or two seats. In every kind `k` is the broker that acts; the set below `k` stays as it
is, so nothing above changes, except that `k` has one child more or fewer, which counts where adapting costs.

===================  ========  =======================================================
kind                 seats     what happens
===================  ========  =======================================================
promotion            i         the grandchild i of k becomes its child
demotion             i, h      the child i of k goes below its sibling h
parent-child swap    i         the grandchild i of k becomes its child, and its parent hangs below it
cousin swap          i, h      two grandchildren of k, of different parents, change places
nephew adoption      i, h      the grandchild i of k goes below another child h of k
uncle-nephew swap    i, h      the grandchild i of k and another child h of k change places
===================  ========  =======================================================

In swaps each takes along its children, except that in a parent-child swap the parent keeps its other children.
"""

from typing import NamedTuple

from polycast.kernel import kernel
from polycast.tree.costs import add_up, change_of, refresh, try_acting, try_seat
from polycast.tree.seats import NOBODY, Seats, hop, link, unlink

KINDS = (
    "promotion",
    "demotion",
    "parent-child swap",
    "cousin swap",
    "nephew adoption",
    "uncle-nephew swap",
)
PROMOTION, DEMOTION, PARENT_CHILD, COUSIN, ADOPTION, UNCLE = range(6)


class Move(NamedTuple):
    """One move: its kind, and one or two seats (the second is -1 where there is none)."""

    kind: int
    seat: int
    other: int = NOBODY

    def __str__(self) -> str:
        return f"{KINDS[self.kind]} of {self.seat}" + (f" and {self.other}" if self.other != NOBODY else "")


@kernel
def acting(f: Seats, kind: int, i: int) -> int:
    """The seat that decides on a move: the lowest whose subtree keeps its members."""
    parent = f.seat[i].parent
    return int(parent if kind == DEMOTION else f.seat[parent].parent)


@kernel
def change(f: Seats, kind: int, i: int, h: int) -> tuple[float, float]:
    """What a move would add to the overload and to the loss, summed over all servers."""
    none = f.nothing
    first, second, acted = none + 1, none + 2, none + 3
    j, k = f.seat[i].parent, acting(f, kind, i)
    left, joined = j, h  # the seats below k whose children change, tried in the rows first and second
    if kind == PROMOTION:
        joined = NOBODY
        try_seat(f, j, first, i, none)
        try_acting(f, k, acted, j, none, first, i)
    elif kind == DEMOTION:
        left = NOBODY
        try_seat(f, h, second, none, i)
        try_acting(f, k, acted, h, i, second, none)
    elif kind == PARENT_CHILD:
        joined = i
        try_seat(f, j, first, i, none)
        try_seat(f, i, second, none, first)
        try_acting(f, k, acted, j, none, second, none)
    elif kind == COUSIN:
        joined = f.seat[h].parent
        try_seat(f, j, first, i, h)
        try_seat(f, joined, second, h, i)
        try_acting(f, k, acted, j, joined, first, second)
    elif kind == ADOPTION:
        try_seat(f, j, first, i, none)
        try_seat(f, h, second, none, i)
        try_acting(f, k, acted, j, h, first, second)
    else:
        joined = NOBODY
        try_seat(f, j, first, i, h)
        try_acting(f, k, acted, j, h, first, i)
    excess, cost = change_of(f, k, acted)
    if left != NOBODY:
        over, loss = change_of(f, left, first)
        excess, cost = excess + over, cost + loss
    if joined != NOBODY:
        over, loss = change_of(f, joined, second)
        excess, cost = excess + over, cost + loss
    if f.overhead and f.seat[k].parent != NOBODY and kind <= DEMOTION:
        above = f.seat[k].parent
        try_acting(f, above, none + 4, k, none, acted, none)
        over, loss = change_of(f, above, none + 4)
        excess, cost = excess + over, cost + loss
    return excess, cost + _links(f, kind, i, h, j, k)


@kernel
def _links(f: Seats, kind: int, i: int, h: int, j: int, k: int) -> float:
    """What a move adds to the delays of links, each times the weight that it carries."""
    seat = f.seat
    wi, hop_i, hop_j = seat[i].subtree_weight, seat[i].hop, seat[j].hop
    if kind == DEMOTION:
        return float(wi * (hop(f, h, i) - hop_i + seat[h].hop))
    if kind == PROMOTION:
        return float(wi * (hop(f, k, i) - hop_i - hop_j))
    if kind == PARENT_CHILD:
        wj = seat[j].subtree_weight
        return float(wj * (hop(f, k, i) - hop_j) - wi * hop_i + (wj - wi) * hop(f, i, j))
    if kind == ADOPTION:
        return float(wi * (hop(f, h, i) - hop_i + seat[h].hop - hop_j))
    wh, hop_h = seat[h].subtree_weight, seat[h].hop
    if kind == COUSIN:
        g = seat[h].parent
        ends = wi * (hop(f, g, i) - hop_i) + wh * (hop(f, j, h) - hop_h)
        return float(ends + (wi - wh) * (seat[g].hop - hop_j))
    return float(wi * (hop(f, k, i) - hop_i) + wh * (hop(f, j, h) - hop_h) + (wh - wi) * hop_j)


@kernel
def apply(f: Seats, kind: int, i: int, h: int) -> None:
    """Do a move, and bring up to date all that it touches, from the children up."""
    j, k = f.seat[i].parent, acting(f, kind, i)
    if kind == DEMOTION:
        _rehang(f, i, h)
        _renew(f, h)
    elif kind == PROMOTION:
        _rehang(f, i, k)
        _renew(f, j)
    elif kind == PARENT_CHILD:
        _rehang(f, i, k)
        _rehang(f, j, i)
        _renew(f, j)
        _renew(f, i)
    elif kind == COUSIN:
        g = f.seat[h].parent
        _rehang(f, i, g)
        _rehang(f, h, j)
        _renew(f, j)
        _renew(f, g)
    elif kind == ADOPTION:
        _rehang(f, i, h)
        _renew(f, j)
        _renew(f, h)
    else:
        _rehang(f, i, k)
        _rehang(f, h, j)
        _renew(f, j)
    _renew(f, k)
    if f.overhead and f.seat[k].parent != NOBODY and kind <= DEMOTION:
        _renew(f, f.seat[k].parent)


@kernel
def _rehang(f: Seats, v: int, parent: int) -> None:
    unlink(f, v)
    link(f, v, parent)


@kernel
def _renew(f: Seats, v: int) -> None:
    refresh(f, v)
    add_up(f, f.seat[v].server)


@kernel
def inverse(f: Seats, kind: int, i: int, h: int) -> tuple[int, int, int]:
    """The move that will undo a move; ask before doing it."""
    j = f.seat[i].parent
    if kind == PROMOTION:
        return DEMOTION, i, j
    if kind == DEMOTION:
        return PROMOTION, i, NOBODY
    if kind == PARENT_CHILD:
        return PARENT_CHILD, j, NOBODY
    if kind == COUSIN:
        return COUSIN, i, h
    if kind == ADOPTION:
        return ADOPTION, i, j
    return UNCLE, h, i


@kernel
def is_possible(f: Seats, kind: int, i: int, h: int) -> bool:
    """Whether a move is one of the six as the seats stand now."""
    seat = f.seat
    j = seat[i].parent
    if j == NOBODY or kind < PROMOTION or kind > UNCLE:
        return False
    if kind == DEMOTION:
        return bool(h != i and h != NOBODY and seat[h].parent == j)
    k = seat[j].parent
    if k == NOBODY:
        return False
    if kind in (PROMOTION, PARENT_CHILD):
        return True
    if h == NOBODY:
        return False
    if kind == COUSIN:
        g = seat[h].parent
        return bool(g != NOBODY and g != j and seat[g].parent == k)
    return bool(h != j and seat[h].parent == k)
