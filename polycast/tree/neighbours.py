"""The best of the moves around a broker (Fidelity, Algorithm 1), and around a single seat.

Kernels that list the moves would be generators, which numba cannot keep on disk; so the moves are weighed where
they are found, and the best so far is handed on.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.tree.moves import ADOPTION, COUSIN, DEMOTION, PARENT_CHILD, PROMOTION, UNCLE, change
from polycast.tree.seats import NOBODY, Seats

SLIGHT = 1e-12


class Best(NamedTuple):
    """The best move so far, and what it changes; the kind is -1 while none is good enough."""

    kind: int
    seat: int
    other: int
    overload: float
    loss: float


@kernel
def better(overload: float, loss: float, than_overload: float, than_loss: float) -> bool:
    """Whether one change is better than another: less overload first, and then less loss."""
    if abs(overload - than_overload) > SLIGHT:
        return overload < than_overload
    return loss < than_loss


@kernel
def best_at(f: Seats, k: int) -> Best:
    """The move of `k` that improves most."""
    best = Best(-1, NOBODY, NOBODY, 0.0, 0.0)
    j = f.seat[k].first
    while j != NOBODY:
        best = _demotions(f, j, best)
        i = f.seat[j].first
        while i != NOBODY:
            best = _lifts(f, i, i, best)
            i = f.seat[i].next
        j = f.seat[j].next
    return best


@kernel
def best_of(f: Seats, i: int, least: float) -> Best:
    """The best move in which a seat is the first, if it gains more than ``least``."""
    best = Best(-1, NOBODY, NOBODY, 0.0, -least)
    j = f.seat[i].parent
    if j == NOBODY:
        return best
    best = _demotions(f, i, best)
    return best if f.seat[j].parent == NOBODY else _lifts(f, i, NOBODY, best)


@kernel
def _demotions(f: Seats, i: int, best: Best) -> Best:
    """Below each of its siblings."""
    h = f.seat[f.seat[i].parent].first
    while h != NOBODY:
        if h != i:
            best = _weigh(f, DEMOTION, i, h, best)
        h = f.seat[h].next
    return best


@kernel
def _lifts(f: Seats, i: int, after: int, best: Best) -> Best:
    """All that a seat's grandparent can do with it, but of cousin swaps only those with seats ``after`` one."""
    seat = f.seat
    j = seat[i].parent
    best = _weigh(f, PROMOTION, i, NOBODY, best)
    best = _weigh(f, PARENT_CHILD, i, NOBODY, best)
    h = seat[seat[j].parent].first
    while h != NOBODY:
        if h != j:
            best = _weigh(f, ADOPTION, i, h, best)
            best = _weigh(f, UNCLE, i, h, best)
            cousin = seat[h].first
            while cousin != NOBODY:
                if cousin > after:
                    best = _weigh(f, COUSIN, i, cousin, best)
                cousin = seat[cousin].next
        h = seat[h].next
    return best


@kernel
def _weigh(f: Seats, kind: int, i: int, h: int, best: Best) -> Best:
    overload, loss = change(f, kind, i, h)
    if better(overload, loss, best.overload, best.loss):
        return Best(kind, int(np.int64(i)), int(np.int64(h)), overload, loss)  # one type for all seats
    return best
