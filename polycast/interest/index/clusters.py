"""Rows that lie together: an event looks only at the clusters in which its own keys lie.

Each row lies where its most selective interval fits. For every reading there are grids over the ranks, from fine
to coarse, each block twice as wide as in the grid before; every grid is there twice, shifted by half a block, so
that an interval fits into a block at most four times as wide. A block with few rows hands them on to a wider one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.bitmaps import ASKED, Bitmaps, Grids, Members, bitmaps
from polycast.interest.index.cover import Rows, share
from polycast.interest.index.dictionary import Dictionary, places
from polycast.kernel import kernel

FINEST = 1 << 14  # blocks of a grid, at the most
FEW = 256  # a block with fewer rows hands them on


class Clusters(NamedTuple):
    """Where rows lie.

    Attributes
    ----------
    grids
        Those that have rows. Cluster 0 is for all events.
    starts
        Which of ``programs`` lie in a cluster.
    programs
        The program of each row.
    """

    grids: Grids
    starts: NDArray[np.int32]
    programs: NDArray[np.int32]


def clustered(rows: Rows, keys: Dictionary, cumulated: NDArray[np.int64]) -> tuple[Clusters, Bitmaps]:
    """Lay rows where events will find them."""
    counts = keys.counts
    bases = _bases(counts)
    grids = Grids(*_grids(counts, bases, int(bases[-1])))
    home = _homes(rows, places(keys), counts, cumulated, bases, grids)
    cluster = np.zeros(len(home), np.int64)
    housed = home[:, 0] >= 0
    cluster[housed] = grids.base[home[housed, 0]] + home[housed, 1]
    starts = np.zeros(_blocks(counts) + 2, np.int32)
    np.cumsum(np.bincount(cluster, minlength=len(starts) - 1), out=starts[1:])
    order = np.argsort(cluster, kind="stable")
    used = np.unique(home[housed, 0])
    clusters = Clusters(Grids(*(array[used] for array in grids)), starts, rows.programs[order])
    return clusters, bitmaps(Members(starts, order, home), rows, counts, grids)


@kernel
def _depth(count: int) -> tuple[int, int]:
    """Of a reading with so many keys: how far ranks are shifted for the finest grid, and how many sizes are."""
    shift = 0
    while (2 * count) >> shift >= FINEST:
        shift += 1
    levels = 1
    while (2 * count) >> (shift + levels - 1):
        levels += 1
    return shift, levels


@kernel
def _bases(count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the grids of each reading begin, two to a level."""
    bases = np.zeros(len(count) + 1, np.int64)
    for reading in range(len(count)):
        bases[reading + 1] = bases[reading] + 2 * _depth(count[reading])[1]
    return bases


@kernel
def _blocks(count: NDArray[np.int64]) -> int:
    """How many blocks all grids have."""
    blocks = 0
    for reading in range(len(count)):
        shift, levels = _depth(count[reading])
        for level in range(levels):
            blocks += 2 * (((2 * count[reading]) >> (shift + level)) + 2)
    return blocks


@kernel
def _grids(
    count: NDArray[np.int64], bases: NDArray[np.int64], grids: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    base, owner = np.empty(grids, np.int64), np.empty(grids, np.int32)
    shifts, halves = np.empty(grids, np.int32), np.empty(grids, np.int32)
    block = 1
    for reading in range(len(count)):
        shift, levels = _depth(count[reading])
        for grid in range(2 * levels):
            at = bases[reading] + grid
            base[at], owner[at], shifts[at] = block, reading, shift + grid // 2
            halves[at] = _half(shifts[at], grid % 2)
            block += ((2 * count[reading]) >> shifts[at]) + 2
    return owner, shifts, halves, base


@kernel
def _half(shift: int, shifted: int) -> int:
    return (1 << shift) >> 1 if shifted else 0


@kernel
def _homes(
    rows: Rows,
    first: NDArray[np.int64],
    counts: NDArray[np.int64],
    cumulated: NDArray[np.int64],
    bases: NDArray[np.int64],
    grids: Grids,
) -> NDArray[np.int64]:
    """The grid and the block of each row; grid -1 for a row that asks nothing."""
    ends, constraints = rows.ends, rows.constraints
    home, chosen = np.full((len(ends) - 1, 2), -1, np.int64), np.zeros((len(ends) - 1, 3), np.int32)
    for row in range(len(home)):
        least = 2.0
        for i in range(ends[row], ends[row + 1]):
            reading = constraints[i, 0]
            taken = share(cumulated, first[reading], counts[reading], constraints[i, 1], constraints[i, 2])
            if taken < least:
                least = taken
                chosen[row] = constraints[i]
        if least < 2.0:
            home[row] = _fitting(chosen[row], counts, bases, grids, 0)
    _hand_on(home, chosen, counts, bases, grids)
    return home


@kernel
def _fitting(
    constraint: NDArray[np.int32], counts: NDArray[np.int64], bases: NDArray[np.int64], grids: Grids, least: int
) -> tuple[int, int]:
    """The finest grid from this one on with a block that holds an interval, and the block."""
    reading, low = constraint[0], constraint[1]
    high = min(constraint[2], 2 * counts[reading])
    grid = max(bases[reading], least)
    while (low + grids.half[grid]) >> grids.shift[grid] != (high + grids.half[grid]) >> grids.shift[grid]:
        grid += 1
    return grid, (low + grids.half[grid]) >> grids.shift[grid]


@kernel
def _hand_on(
    home: NDArray[np.int64],
    chosen: NDArray[np.int32],
    counts: NDArray[np.int64],
    bases: NDArray[np.int64],
    grids: Grids,
) -> None:
    """Move rows of small blocks into wider ones, from the finest size to the widest."""
    levels = 0
    for reading in range(len(counts)):
        levels = max(levels, (bases[reading + 1] - bases[reading]) // 2)
    base = grids.base
    sizes = np.zeros(base[-1] + 8 if len(base) else 1, np.int64)
    for level in range(levels - 1):
        sizes[:] = 0
        for row in range(len(home)):
            grid = home[row, 0]
            if grid >= 0 and (grid - bases[chosen[row, 0]]) // 2 == level:
                sizes[base[grid] + home[row, 1]] += 1
        for row in range(len(home)):
            grid = home[row, 0]
            if grid >= 0 and (grid - bases[chosen[row, 0]]) // 2 == level:
                wider = bases[chosen[row, 0]] + 2 * (level + 1)
                if sizes[base[grid] + home[row, 1]] < FEW and wider < bases[chosen[row, 0] + 1]:
                    home[row] = _fitting(chosen[row], counts, bases, grids, wider)
    _hand_to_all(home, chosen[:, 0], len(counts), base, sizes)


@kernel
def _hand_to_all(
    home: NDArray[np.int64],
    chosen: NDArray[np.int32],
    readings: int,
    base: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Rows of blocks that are still small go where all events look, if the cluster there has a bitmap for them."""
    uses = np.zeros(readings, np.int64)
    sizes[:] = 0
    for row in range(len(home)):
        if home[row, 0] >= 0:
            sizes[base[home[row, 0]] + home[row, 1]] += 1
            uses[chosen[row]] += 1
    for row in range(len(home)):
        if home[row, 0] < 0 or uses[chosen[row]] * ASKED < len(home):
            continue
        if sizes[base[home[row, 0]] + home[row, 1]] < FEW:
            home[row] = -1
