"""Possible moves: the best around a broker (Fidelity, Algorithm 1) or of a single seat, and one by chance.

Kernels that list the moves would be generators, which numba cannot keep on disk; so the moves are weighed where
they are found, and the best so far is handed on.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.tree.moves import ADOPTION, COUSIN, DEMOTION, PARENT_CHILD, PROMOTION, UNCLE, change
from polycast.tree.seats import NOBODY, Seats

SLIGHT = 1e-12
TRIES = 64  # to find a move by chance


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


@kernel
def random_move(f: Seats, rng: np.random.Generator) -> tuple[int, int, int]:
    """A possible move by chance: a kind, then a seat, then its partner; the kind is -1 if none was found."""
    seat = f.seat
    for _ in range(TRIES):
        kind = int(rng.random() * 6)
        i = f.roots + int(rng.random() * (f.nothing - f.roots))
        j = seat[i].parent
        if kind == DEMOTION:
            h = _random_child(f, rng, j, i)
            if h != NOBODY:
                return kind, i, h
            continue
        k = seat[j].parent
        if k == NOBODY:
            continue
        if kind in (PROMOTION, PARENT_CHILD):
            return kind, i, NOBODY
        h = _random_child(f, rng, k, j)
        if h != NOBODY and kind == COUSIN:
            h = _random_child(f, rng, h, NOBODY)
        if h != NOBODY:
            return kind, i, h
    return -1, NOBODY, NOBODY


@kernel
def _random_child(f: Seats, rng: np.random.Generator, k: int, but: int) -> int:
    """A child of `k` other than ``but``, by chance."""
    choices = f.seat[k].children - (but != NOBODY)
    if choices < 1:
        return NOBODY
    left = int(rng.random() * choices)
    child = f.seat[k].first
    while True:
        if child != but:
            if left == 0:
                return int(child)
            left -= 1
        child = f.seat[child].next
