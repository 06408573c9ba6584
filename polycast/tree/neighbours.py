"""All moves around one broker, and the best of them (Fidelity, Algorithm 1)."""

import numpy as np

from polycast.kernel import kernel
from polycast.tree.moves import (
    ADOPTION,
    COUSIN,
    DEMOTION,
    PARENT_CHILD,
    PROMOTION,
    UNCLE,
    Move,
    change,
)
from polycast.tree.seats import NOBODY, Seats

SLIGHT = 1e-12


@kernel
def better(overload: float, loss: float, than_overload: float, than_loss: float) -> bool:
    """Whether one change is better than another: less overload first, and then less loss."""
    if abs(overload - than_overload) > SLIGHT:
        return overload < than_overload
    return loss < than_loss


@kernel
def moves_at(f: Seats, k: int, found: np.ndarray) -> int:
    """List the possible moves that `k` decides on, each once, as rows of ``found``; return how many there are.

    When ``found`` is full the rest is only counted.
    """
    seat, count = f.seat, 0
    j = seat[k].first
    while j != NOBODY:
        i = seat[j].first
        while i != NOBODY:
            count = _note(found, count, PROMOTION, i, NOBODY)
            count = _note(found, count, PARENT_CHILD, i, NOBODY)
            h = seat[k].first
            while h != NOBODY:
                if h != j:
                    count = _note(found, count, ADOPTION, i, h)
                    count = _note(found, count, UNCLE, i, h)
                    other = seat[h].first
                    while other != NOBODY:
                        if i < other:
                            count = _note(found, count, COUSIN, i, other)
                        other = seat[other].next
                h = seat[h].next
            i = seat[i].next
        h = seat[k].first
        while h != NOBODY:
            if h != j:
                count = _note(found, count, DEMOTION, j, h)
            h = seat[h].next
        j = seat[j].next
    return count


@kernel
def _note(found: np.ndarray, count: int, kind: int, i: int, h: int) -> int:
    if count < len(found):
        found[count, 0], found[count, 1], found[count, 2] = kind, i, h
    return count + 1


@kernel
def best_of(f: Seats, found: np.ndarray, count: int) -> tuple[int, float, float]:
    """The move that improves most, by its place in ``found``, and what it changes; -1 if none improves."""
    best, least_overload, least_loss = -1, 0.0, 0.0
    for m in range(count):
        overload, loss = change(f, found[m, 0], found[m, 1], found[m, 2])
        if better(overload, loss, least_overload, least_loss):
            best, least_overload, least_loss = m, overload, loss
    return best, least_overload, least_loss


def all_at(f: Seats, k: int) -> list[Move]:
    """The possible moves that `k` decides on."""
    found = np.empty((0, 3), np.int32)
    count = moves_at(f, k, found)
    found = np.empty((count, 3), np.int32)
    moves_at(f, k, found)
    return [Move(*row) for row in found.tolist()]
