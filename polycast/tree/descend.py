"""Descent: the best move of every seat that has become promising, until no move improves any more."""

import numpy as np

from polycast.kernel import kernel
from polycast.tree.costs import total
from polycast.tree.forest import Forest
from polycast.tree.moves import acting, apply
from polycast.tree.neighbours import best_of
from polycast.tree.seats import NOBODY, Positions, Seats
from polycast.tree.servers import Flags
from polycast.tree.slices import Slices

GAIN = 1e-12  # what a move must gain at least, as a share of the whole, so that rounding cannot go in circles


def descend(forest: Forest) -> Forest:
    """Improve a forest in place until no seat near a change finds a better place."""
    queue = Queue(len(forest))
    queue.fill(range(forest.seats.roots, len(forest)))
    least, slices = GAIN * total(forest.seats, forest.order)[1], Slices(16)
    while queue.left:
        served = descend_some(forest.seats, queue.ring, queue.waiting, queue.ends, slices.size, least)
        slices.done(served)
    return forest


class Queue:
    """Seats that may have a move worth making, each at most once, first in, first out."""

    def __init__(self, seats: int) -> None:
        self.ring: Positions = np.empty(seats + 1, np.int32)
        self.waiting: Flags = np.zeros(seats, np.bool_)
        self.ends: Positions = np.zeros(2, np.int32)

    def fill(self, seats: range) -> None:
        for seat in seats:
            enqueue(self.ring, self.waiting, self.ends, seat)

    @property
    def left(self) -> bool:
        return bool(self.ends[0] != self.ends[1])


@kernel
def enqueue(ring: Positions, waiting: Flags, ends: Positions, v: int) -> None:
    """Let a seat wait for its turn, unless it already does."""
    if not waiting[v]:
        waiting[v] = True
        ring[ends[1]] = v
        ends[1] = (ends[1] + 1) % len(ring)


@kernel
def descend_some(f: Seats, ring: Positions, waiting: Flags, ends: Positions, most: int, least: float) -> int:
    """Serve seats of the queue, at most so many; return how many."""
    served = 0
    while ends[0] != ends[1] and served < most:
        i = ring[ends[0]]
        ends[0] = (ends[0] + 1) % len(ring)
        waiting[i] = False
        served += 1
        best = best_of(f, i, least)
        if best.kind >= 0:
            j, k = f.seat[i].parent, acting(f, best.kind, i)
            apply(f, best.kind, i, best.other)
            _promise(f, ring, waiting, ends, i)
            _promise(f, ring, waiting, ends, best.other)
            _promise(f, ring, waiting, ends, j)
            _promise(f, ring, waiting, ends, k)
    return served


@kernel
def _promise(f: Seats, ring: Positions, waiting: Flags, ends: Positions, v: int) -> None:
    """A seat has changed: it and its children may now have better places."""
    if v == NOBODY:
        return
    if f.seat[v].parent != NOBODY:
        enqueue(ring, waiting, ends, v)
    child = f.seat[v].first
    while child != NOBODY:
        enqueue(ring, waiting, ends, child)
        child = f.seat[child].next
