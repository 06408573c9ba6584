"""Bitmaps of large clusters: for a reading and a bucket of ranks, which rows an event's key there lets through.

Where buckets are coarse, there are two of each: rows that may fit, and rows that do for certain. A row that is
certain in all bitmaps needs no further look.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.cover import Rows
from polycast.kernel import kernel

LARGE = 32  # rows from which on a cluster has bitmaps
MOST = 28  # readings that a cluster has bitmaps for
ASKED = 20  # a reading is worth a bitmap if one in so many rows asks it
EXACT = 130  # so many ranks have a bucket each
COARSE = 32  # buckets, if there are more ranks

READING, KIND, BASE, SHIFT, BUCKETS, START = range(6)
KEYS, RANKS, RANGES, ROUGH = range(4)
"""Of a bitmap, what a bucket is: a key, where all rows ask for one; a rank; a range of them, with a second bitmap;
or such a range without one, where few rows could be certain anyhow."""

ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Bitmaps(NamedTuple):
    """The bitmaps of all clusters.

    Attributes
    ----------
    slots
        By cluster: its number among those with bitmaps; -1 for none.
    ends
        Where in ``maps`` each such cluster's end.
    exact
        Where in ``words`` it says of which rows the bitmaps say all.
    maps
        Of each bitmap: its reading, its kind, the rank where its buckets begin, the shift from ranks to buckets,
        how many buckets there are, and where in ``words`` it begins. Its first bucket is for all other keys.
    """

    slots: NDArray[np.int32]
    ends: NDArray[np.int64]
    exact: NDArray[np.int64]
    maps: NDArray[np.int64]
    words: NDArray[np.uint64]


def bitmaps(
    starts: NDArray[np.int32],
    order: NDArray[np.int64],
    rows: Rows,
    counts: NDArray[np.int64],
    home: NDArray[np.int64],
    grid_reading: NDArray[np.int32],
    grid_shift: NDArray[np.int32],
    grid_half: NDArray[np.int32],
) -> Bitmaps:
    """The bitmaps of clusters: ``starts`` and ``order`` say which rows are in each, ``home`` in which block."""
    slots, ends, exact, maps, size = _designed(
        starts, order, rows.exact, rows.ends, rows.constraints, counts, home, grid_reading, grid_shift, grid_half
    )
    words = np.full(size, ALL, np.uint64)
    _fill(starts, order, rows.exact, rows.ends, rows.constraints, counts, slots, ends, exact, maps, words)
    return Bitmaps(slots, ends, exact, maps, words)


@kernel
def _designed(
    starts: NDArray[np.int32],
    order: NDArray[np.int64],
    is_exact: NDArray[np.bool_],
    ends: NDArray[np.int64],
    constraints: NDArray[np.int32],
    counts: NDArray[np.int64],
    home: NDArray[np.int64],
    grid_reading: NDArray[np.int32],
    grid_shift: NDArray[np.int32],
    grid_half: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Which bitmaps there are, where in the words each begins, and how many words there are."""
    slots = np.full(len(starts) - 1, -1, np.int32)
    large = 0
    for cluster in range(len(slots)):
        if starts[cluster + 1] - starts[cluster] >= LARGE:
            slots[cluster] = large
            large += 1
    map_ends, exact = np.zeros(large + 1, np.int64), np.zeros(large, np.int64)
    maps = np.empty((large * MOST, 6), np.int64)
    uses, ranges = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    made = size = 0
    for cluster in range(len(slots)):
        if slots[cluster] < 0:
            continue
        members = order[starts[cluster] : starts[cluster + 1]]
        width = (len(members) + 63) >> 6
        exact[slots[cluster]] = size
        size += width
        uses[:] = 0
        ranges[:] = 0
        telling = 0
        for row in members:
            telling += is_exact[row]
            for i in range(ends[row], ends[row + 1]):
                uses[constraints[i, 0]] += 1
                if constraints[i, 1] != constraints[i, 2] or not constraints[i, 1] & 1:
                    ranges[constraints[i, 0]] += 1
        grid, is_double = home[members[0], 0], telling * ASKED >= len(members)
        for _ in range(min(MOST, len(counts))):
            reading = int(np.argmax(uses))
            if uses[reading] * ASKED < len(members):
                break
            uses[reading] = 0
            base, last = 0, 2 * counts[reading]
            if grid >= 0 and grid_reading[grid] == reading:
                start = (home[members[0], 1] << grid_shift[grid]) - grid_half[grid]
                base, last = max(start & ~1, 0), min(start + (1 << grid_shift[grid]), last)
            size += (
                _design(maps[made], reading, base, last - base + 1, ranges[reading] == 0, is_double, size) * width
            )
            made += 1
        map_ends[slots[cluster] + 1] = made
    return slots, map_ends, exact, maps[:made].copy(), size


@kernel
def _design(
    design: NDArray[np.int64], reading: int, base: int, ranks: int, are_keys: bool, is_double: bool, start: int
) -> int:
    """Write down how a bitmap is made; how many rows of words it has."""
    shift = 0
    if are_keys and ranks <= 2 * EXACT:
        kind, shift = KEYS, 1
    elif ranks <= EXACT:
        kind = RANKS
    else:
        kind = RANGES if is_double else ROUGH
        while ranks >> shift >= COARSE:
            shift += 1
    buckets = (ranks >> shift) + 1
    design[READING], design[KIND], design[BASE] = reading, kind, base
    design[SHIFT], design[BUCKETS], design[START] = shift, buckets, start
    return 2 * (buckets + 1) if kind == RANGES else buckets + 1


@kernel
def bucket(design: NDArray[np.int64], rank: int) -> int:
    """Where an event's key lies."""
    if rank < design[BASE] or (design[KIND] == KEYS and not rank & 1):
        return 0
    found = ((rank - design[BASE]) >> design[SHIFT]) + 1
    return found if found <= design[BUCKETS] else 0


@kernel
def _fill(
    starts: NDArray[np.int32],
    order: NDArray[np.int64],
    is_exact: NDArray[np.bool_],
    ends: NDArray[np.int64],
    constraints: NDArray[np.int32],
    counts: NDArray[np.int64],
    slots: NDArray[np.int32],
    map_ends: NDArray[np.int64],
    exact: NDArray[np.int64],
    maps: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None:
    place = np.full(len(counts), -1, np.int64)
    for cluster in range(len(slots)):
        slot = slots[cluster]
        if slot < 0:
            continue
        members = order[starts[cluster] : starts[cluster + 1]]
        width = (len(members) + 63) >> 6
        for j in range(map_ends[slot], map_ends[slot + 1]):
            place[maps[j, READING]] = j
        for at in range(len(members)):
            row = members[at]
            keep = ~(np.uint64(1) << np.uint64(at & 63))
            is_told = is_exact[row]
            for i in range(ends[row], ends[row + 1]):
                j = place[constraints[i, 0]]
                if j >= 0:
                    is_told = is_told and maps[j, KIND] != ROUGH
                    last = 2 * counts[constraints[i, 0]]
                    _clear(maps[j], constraints[i, 1], constraints[i, 2], last, width, at >> 6, keep, words)
                else:
                    is_told = False
            if not is_told:
                words[exact[slot] + (at >> 6)] &= keep
        for j in range(map_ends[slot], map_ends[slot + 1]):
            place[maps[j, READING]] = -1


@kernel
def _clear(
    design: NDArray[np.int64],
    low: int,
    high: int,
    last: int,
    width: int,
    word: int,
    keep: np.uint64,
    words: NDArray[np.uint64],
) -> None:
    """Take a row out of the buckets that its interval leaves out, or does not fill."""
    start, shift = design[START] + word, design[SHIFT]
    buckets = design[BUCKETS]
    words[start] &= keep
    certain = start + (buckets + 1) * width
    if design[KIND] == RANGES:
        words[certain] &= keep
    for number in range(buckets):
        least = design[BASE] + (number << shift)
        highest = least + (1 << shift) - 1
        if highest < low or least > high:
            words[start + (number + 1) * width] &= keep
        if design[KIND] == RANGES and (least < low or min(highest, last) > high):
            words[certain + (number + 1) * width] &= keep
