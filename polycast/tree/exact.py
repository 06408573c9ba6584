"""Exact: every choice of trees for a handful of servers.

A tree over `n` servers is a word of `n - 2` letters out of `n` (Prüfer), so the words are counted through like the
figures of a milometer, those of all trees together.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.tree.costs import settle, total
from polycast.tree.forest import Forest
from polycast.tree.neighbours import better
from polycast.tree.seats import NOBODY, Positions, Seats, link, walk
from polycast.tree.servers import Floats
from polycast.tree.slices import Slices

MOST = 20_000_000


def exact(forest: Forest, progress: Callable[[float], None] = lambda _: None) -> Forest:
    """Bring a forest to the least average loss there is. Interrupted, it has the best that was seen."""
    words = _Words(forest)
    if words.count > MOST:
        raise NoSolution(f"exact: {words.count:.3g} choices of trees are too many; local finds good ones")
    cost = np.array(total(forest.seats, forest.order))
    best, slices, done = forest.parents, Slices(64), 0
    try:
        while done < words.count:
            size = min(slices.size, words.count - done)
            try_some(forest.seats, words.letters, words.starts, words.members, size, cost, best)
            slices.done(size)
            done += size
            progress(done / words.count)
    finally:
        forest.plant(best)
    return forest


class _Words:
    """The words of all trees, the first letters first, and the seats of all trees, tree by tree."""

    def __init__(self, forest: Forest) -> None:
        sizes = np.bincount(forest.tree_of, minlength=len(forest.objects))
        self.members = np.argsort(forest.tree_of, kind="stable").astype(np.int32)
        self.starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        self.letters = np.zeros(len(forest), np.int32)  # those of a tree stand where its seats do; two are spare
        self.count = prod(int(size) ** max(int(size) - 2, 0) for size in sizes)


@kernel
def try_some(
    f: Seats,
    letters: Positions,
    starts: Positions,
    members: Positions,
    count: int,
    cost: Floats,
    best: Positions,
) -> None:
    """Try the next words; ``cost`` and ``best`` are those of the best trees so far."""
    order, degree = np.empty(len(best), np.int32), np.empty(len(best), np.int32)
    for _ in range(count):
        for v in range(len(best)):
            f.seat[v].first, f.seat[v].parent = NOBODY, NOBODY
        for tree in range(len(starts) - 1):
            start, end = starts[tree], starts[tree + 1]
            _read(f, letters[start:end], members[start:end], degree)
        walk(f, order)
        settle(f, order)
        overload, loss = total(f, order)
        if better(overload, loss * (1 + 1e-12), cost[0], cost[1]):
            cost[0], cost[1] = overload, loss
            for v in range(len(best)):
                best[v] = f.seat[v].parent
        _next(letters, starts)


@kernel
def _read(f: Seats, word: Positions, members: Positions, degree: Positions) -> None:
    """Link the seats of one tree as its word says; the root is the last to be left over."""
    size = len(members)
    if size < 2:
        return
    for p in range(size):
        degree[p] = 1
    for letter in word[: size - 2]:
        degree[letter] += 1
    for letter in word[: size - 2]:
        leaf = size - 1  # the root, number 0, goes last: it is never cut off as a leaf while others are left
        while degree[leaf] != 1:
            leaf -= 1
        link(f, members[leaf], members[letter])
        degree[leaf] = 0
        degree[letter] -= 1
    leaf = size - 1
    while degree[leaf] != 1:
        leaf -= 1
    link(f, members[leaf], members[0])


@kernel
def _next(letters: Positions, starts: Positions) -> None:
    """Count one on, tree by tree."""
    for tree in range(len(starts) - 1):
        size = starts[tree + 1] - starts[tree]
        for p in range(starts[tree], starts[tree + 1] - 2):
            letters[p] += 1
            if letters[p] < size:
                return
            letters[p] = 0
