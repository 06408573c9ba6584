"""Rows that lie together: an event looks only at the clusters in which its own keys lie.

Each row lies where its most selective interval fits. For every reading there are grids over the ranks, from fine
to coarse, each block twice as wide as in the grid before; every grid is there twice, shifted by half a block, so
that an interval fits into a block at most four times as wide. A large cluster has bitmaps: for each reading that
its rows ask most, and each bucket of ranks, which rows it lets through.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.cover import Rows, share
from polycast.interest.index.dictionary import Dictionary
from polycast.kernel import kernel

FINEST = 1 << 17  # blocks of a grid, at the most
LARGE = 192  # rows from which on a cluster has bitmaps
BUCKETS = 32
MAPPED = 24  # readings that a cluster has bitmaps for
ASKED = 16  # a reading is worth a bitmap if one in so many rows asks it


class Clusters(NamedTuple):
    """Where rows lie.

    Attributes
    ----------
    grid_reading, grid_shift, grid_half, grid_base
        Of each grid that has rows: rank + half, shifted, and the base give the cluster. Cluster 0 is for all.
    starts
        Which of ``programs`` lie in a cluster.
    programs
        The program of each row.
    slots
        Which bitmaps a cluster has; -1 for none.
    slot_ends
        Where in ``maps`` the bitmaps of a slot end.
    maps
        Of each bitmap: the reading, the shift from ranks to buckets, and where in ``words`` it begins.
    """

    grid_reading: NDArray[np.int32]
    grid_shift: NDArray[np.int32]
    grid_half: NDArray[np.int32]
    grid_base: NDArray[np.int64]
    starts: NDArray[np.int32]
    programs: NDArray[np.int32]
    slots: NDArray[np.int32]
    slot_ends: NDArray[np.int64]
    maps: NDArray[np.int64]
    words: NDArray[np.uint64]


def clustered(rows: Rows, keys: Dictionary, cumulated: NDArray[np.int64]) -> Clusters:
    """Lay rows where events will find them."""
    owners, ends, constraints = rows
    bases = _bases(keys.counts)
    home = _homes(ends, constraints, keys.first, keys.counts, cumulated, bases)
    grids, blocks = int(bases[-1]), int(_blocks(keys.counts))
    base, reading, shift, half = _grids(keys.counts, bases, grids)
    cluster = np.zeros(len(owners), np.int64)
    housed = home[:, 0] >= 0
    cluster[housed] = base[home[housed, 0]] + home[housed, 1]
    starts = np.zeros(blocks + 2, np.int32)
    np.cumsum(np.bincount(cluster, minlength=blocks + 1), out=starts[1:])
    order = np.argsort(cluster, kind="stable")
    used = np.unique(home[housed, 0])
    maps = _bitmaps(starts, order, ends, constraints, keys.counts)
    return Clusters(reading[used], shift[used], half[used], base[used], starts, owners[order], *maps)


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
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
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
    return base, owner, shifts, halves


@kernel
def _half(shift: int, shifted: int) -> int:
    return (1 << shift) >> 1 if shifted else 0


@kernel
def _homes(
    ends: NDArray[np.int64],
    constraints: NDArray[np.int32],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    cumulated: NDArray[np.int64],
    bases: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The grid and the block of each row; grid -1 for a row that asks nothing."""
    home = np.full((len(ends) - 1, 2), -1, np.int64)
    for row in range(len(ends) - 1):
        least = 2.0
        for i in range(ends[row], ends[row + 1]):
            reading, low, high = constraints[i, 0], constraints[i, 1], constraints[i, 2]
            taken = share(cumulated, first[reading], count[reading], low, high)
            if taken < least:
                least = taken
                high = min(high, 2 * count[reading])
                shift, levels = _depth(count[reading])
                for grid in range(2 * levels):
                    wide = shift + grid // 2
                    half = _half(wide, grid % 2)
                    if (low + half) >> wide == (high + half) >> wide:
                        home[row, 0] = bases[reading] + grid
                        home[row, 1] = (low + half) >> wide
                        break
    return home


@kernel
def bucket_shift(count: int) -> int:
    """How far ranks are shifted to make so few buckets."""
    shift = 0
    while (2 * count) >> shift >= BUCKETS:
        shift += 1
    return shift


@kernel
def _bitmaps(
    starts: NDArray[np.int32],
    order: NDArray[np.int64],
    ends: NDArray[np.int64],
    constraints: NDArray[np.int32],
    count: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    clusters = len(starts) - 1
    slots = np.full(clusters, -1, np.int32)
    large = 0
    for cluster in range(clusters):
        if starts[cluster + 1] - starts[cluster] >= LARGE:
            slots[cluster] = large
            large += 1
    slot_ends = np.zeros(large + 1, np.int64)
    maps = np.empty((large * MAPPED, 3), np.int64)
    uses, place = np.zeros(len(count), np.int64), np.full(len(count), -1, np.int64)
    made = size = 0
    for cluster in range(clusters):
        if slots[cluster] < 0:
            continue
        members = order[starts[cluster] : starts[cluster + 1]]
        uses[:] = 0
        for row in members:
            for i in range(ends[row], ends[row + 1]):
                uses[constraints[i, 0]] += 1
        for _ in range(MAPPED):
            reading = np.argmax(uses)
            if uses[reading] * ASKED < len(members):
                break
            uses[reading] = 0
            shift = bucket_shift(count[reading])
            maps[made, 0], maps[made, 1], maps[made, 2] = reading, shift, size
            size += (((2 * count[reading]) >> shift) + 2) * ((len(members) + 63) >> 6)
            made += 1
        slot_ends[slots[cluster] + 1] = made
    words = np.full(size, np.uint64(0xFFFF_FFFF_FFFF_FFFF), np.uint64)
    for cluster in range(clusters):
        slot = slots[cluster]
        if slot < 0:
            continue
        members = order[starts[cluster] : starts[cluster + 1]]
        width = (len(members) + 63) >> 6
        for j in range(slot_ends[slot], slot_ends[slot + 1]):
            place[maps[j, 0]] = j
        for at in range(len(members)):
            bit = ~(np.uint64(1) << np.uint64(at & 63))
            for i in range(ends[members[at]], ends[members[at] + 1]):
                reading = constraints[i, 0]
                j = place[reading]
                if j >= 0:
                    shift, word = maps[j, 1], maps[j, 2] + (at >> 6)
                    low, high = constraints[i, 1] >> shift, constraints[i, 2] >> shift
                    for bucket in range(((2 * count[reading]) >> shift) + 1):
                        if bucket < low or bucket > high:
                            words[word + (bucket + 1) * width] &= bit
                    words[word] &= bit
        for j in range(slot_ends[slot], slot_ends[slot + 1]):
            place[maps[j, 0]] = -1
    return slots, slot_ends, maps[:made].copy(), words
