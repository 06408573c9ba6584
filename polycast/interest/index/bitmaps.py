"""Bitmaps of large clusters: for a reading and a bucket of ranks, which rows an event's key there lets through.

Where buckets are coarse, some rows let only a part of a bucket through. Such edges of intervals are listed beside
the bucket, and looked at one by one. So what passes all bitmaps and edges of a cluster fits in all that they ask.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.cover import Rows
from polycast.kernel import kernel

LARGE = 32  # rows from which on a cluster has bitmaps
MOST = 28  # readings that a cluster has bitmaps for
ASKED = 20  # a reading is worth a bitmap if one in so many rows asks it
KEYED = 130  # so many keys have a bucket each
RANGED = 44  # more buckets of ranges are too many

READING, KEYS, BASE, SHIFT, BUCKETS, START, EDGES = range(7)
"""Of a bitmap: its reading, whether all rows ask for single keys (then no bucket is for what lies between them),
the rank where its buckets begin, the shift from ranks to buckets, how many buckets there are, and where in
``words`` and in ``edge_starts`` it begins. Before its first bucket is one for all other keys."""

ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Grids(NamedTuple):
    """Blocks of ranks, of the same width in a grid: rank + half, shifted, is the block.

    Attributes
    ----------
    base
        The cluster of a grid's first block.
    """

    reading: NDArray[np.int32]
    shift: NDArray[np.int32]
    half: NDArray[np.int32]
    base: NDArray[np.int64]


class Members(NamedTuple):
    """Which rows are in each cluster, and the grid and the block where each row is."""

    starts: NDArray[np.int32]
    order: NDArray[np.int64]
    home: NDArray[np.int64]


class Bitmaps(NamedTuple):
    """The bitmaps of all clusters.

    Attributes
    ----------
    slots
        By cluster: its number among those with bitmaps; -1 for none.
    ends
        Where in ``maps`` each such cluster's end.
    told
        Where in ``words`` it says of which rows the bitmaps say all.
    edge_starts, edges
        Of each bucket, the edges in it, two numbers each: a row of the cluster (inverted for an upper bound),
        and the bound.
    """

    slots: NDArray[np.int32]
    ends: NDArray[np.int64]
    told: NDArray[np.int64]
    maps: NDArray[np.int64]
    words: NDArray[np.uint64]
    edge_starts: NDArray[np.int32]
    edges: NDArray[np.int32]


def bitmaps(members: Members, rows: Rows, counts: NDArray[np.int64], grids: Grids) -> Bitmaps:
    """The bitmaps of clusters of rows, given how many keys each reading has."""
    slots, ends, told, maps, size, buckets = _designed(members, rows, counts, grids)
    words, edge_starts = np.full(size, ALL, np.uint64), np.zeros(buckets + 1, np.int32)
    made = Bitmaps(slots, ends, told, maps, words, edge_starts, np.empty(0, np.int32))
    _fill(members, rows, counts, made)
    return made._replace(edges=_listed(members, rows, counts, made))


@kernel
def _designed(
    members: Members, rows: Rows, counts: NDArray[np.int64], grids: Grids
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int, int]:
    """Which bitmaps there are, where in the words each begins, and how many words and buckets there are."""
    starts, constraints = members.starts, rows.constraints
    slots = np.full(len(starts) - 1, -1, np.int32)
    large = 0
    for cluster in range(len(slots)):
        if starts[cluster + 1] - starts[cluster] >= LARGE:
            slots[cluster] = large
            large += 1
    map_ends, told = np.zeros(large + 1, np.int64), np.zeros(large, np.int64)
    maps = np.empty((large * MOST, 7), np.int64)
    uses, ranges = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    made = size = buckets = 0
    for cluster in range(len(slots)):
        if slots[cluster] < 0:
            continue
        inside = members.order[starts[cluster] : starts[cluster + 1]]
        width = (len(inside) + 63) >> 6
        told[slots[cluster]] = size
        size += width
        uses[:] = 0
        ranges[:] = 0
        for row in inside:
            for i in range(rows.ends[row], rows.ends[row + 1]):
                uses[constraints[i, 0]] += 1
                if constraints[i, 1] != constraints[i, 2] or not constraints[i, 1] & 1:
                    ranges[constraints[i, 0]] += 1
        grid, block = members.home[inside[0]]
        for _ in range(min(MOST, len(counts))):
            reading = int(np.argmax(uses))
            if uses[reading] * ASKED < len(inside):
                break
            uses[reading] = 0
            base, last = 0, 2 * counts[reading]
            if grid >= 0 and grids.reading[grid] == reading:
                start = (block << grids.shift[grid]) - grids.half[grid]
                base, last = max(start & ~1, 0), min(start + (1 << grids.shift[grid]), last)
            _design(maps[made], reading, base, last - base + 1, ranges[reading] == 0)
            maps[made, START], maps[made, EDGES] = size, buckets
            size += (maps[made, BUCKETS] + 1) * width
            buckets += maps[made, BUCKETS] + 1
            made += 1
        map_ends[slots[cluster] + 1] = made
    return slots, map_ends, told, maps[:made].copy(), size, buckets


@kernel
def _design(design: NDArray[np.int64], reading: int, base: int, ranks: int, are_keys: bool) -> None:
    """Write down how a bitmap is made.

    Buckets of ranges begin with a key and end below one, as most intervals do (prefixes, ``>=`` and ``<``).
    """
    is_keyed = are_keys and ranks <= 2 * KEYED
    shift = 1 if is_keyed else 0
    while not is_keyed and (ranks + 1) >> shift >= RANGED:
        shift += 1
    design[READING], design[KEYS], design[BASE] = reading, is_keyed, base if is_keyed else base - 1
    design[SHIFT], design[BUCKETS] = shift, ((ranks + 1) >> shift) + 1


@kernel
def bucket(designs: NDArray[np.int64], j: int, rank: int) -> int:
    """Where an event's key lies."""
    if rank < 0 or rank < designs[j, BASE] or (designs[j, KEYS] and not rank & 1):
        return 0
    found = ((rank - designs[j, BASE]) >> designs[j, SHIFT]) + 1
    return int(found) if found <= designs[j, BUCKETS] else 0


@kernel
def _fill(members: Members, rows: Rows, counts: NDArray[np.int64], maps: Bitmaps) -> None:
    """Take rows out of the buckets that their intervals leave out, and count the edges in each bucket."""
    place = np.full(len(counts), -1, np.int64)
    for cluster in range(len(maps.slots)):
        slot = maps.slots[cluster]
        if slot < 0:
            continue
        inside = members.order[members.starts[cluster] : members.starts[cluster + 1]]
        width = (len(inside) + 63) >> 6
        _place(maps, slot, place)
        for at in range(len(inside)):
            row = inside[at]
            keep = ~(np.uint64(1) << np.uint64(at & 63))
            is_told = rows.exact[row]
            for i in range(rows.ends[row], rows.ends[row + 1]):
                reading, low, high = rows.constraints[i]
                j = place[reading]
                if j < 0:
                    is_told = False
                    continue
                _clear(maps.maps[j], low, high, width, at >> 6, keep, maps.words)
                for edge in _edges(maps.maps[j], low, high, 2 * counts[reading]):
                    if edge >= 0:
                        maps.edge_starts[edge + 1] += 1
            if not is_told:
                maps.words[maps.told[slot] + (at >> 6)] &= keep
        _unplace(maps, slot, place)
    for edge in range(1, len(maps.edge_starts)):
        maps.edge_starts[edge] += maps.edge_starts[edge - 1]


@kernel
def _place(maps: Bitmaps, slot: int, place: NDArray[np.int64]) -> None:
    """Write down which bitmap of a cluster each reading has."""
    for j in range(maps.ends[slot], maps.ends[slot + 1]):
        place[maps.maps[j, READING]] = j


@kernel
def _unplace(maps: Bitmaps, slot: int, place: NDArray[np.int64]) -> None:
    for j in range(maps.ends[slot], maps.ends[slot + 1]):
        place[maps.maps[j, READING]] = -1


@kernel
def _clear(
    design: NDArray[np.int64],
    low: int,
    high: int,
    width: int,
    word: int,
    keep: np.uint64,
    words: NDArray[np.uint64],
) -> None:
    """Take a row out of the buckets that its interval leaves out."""
    start, shift = design[START] + word, design[SHIFT]
    words[start] &= keep
    for number in range(design[BUCKETS]):
        least = design[BASE] + (number << shift)
        if least + (1 << shift) <= low or least > high:
            words[start + (number + 1) * width] &= keep


@kernel
def _edges(design: NDArray[np.int64], low: int, high: int, last: int) -> tuple[int, int]:
    """The buckets that an interval fills in part, by its lower and by its upper bound; -1 for none."""
    if design[KEYS]:
        return -1, -1
    base, shift = design[BASE], design[SHIFT]
    within = (1 << shift) - 1
    first = design[EDGES] + 1
    lower = first + ((low - base) >> shift) if low > base and (low - base) & within else -1
    upper = first + ((high - base) >> shift) if high < last and (high - base + 1) & within else -1
    return int(lower), int(upper)


@kernel
def _listed(members: Members, rows: Rows, counts: NDArray[np.int64], maps: Bitmaps) -> NDArray[np.int32]:
    """The edges of all intervals, by bucket."""
    edges = np.empty(2 * maps.edge_starts[-1], np.int32)
    free = maps.edge_starts.copy()
    place = np.full(len(counts), -1, np.int64)
    for cluster in range(len(maps.slots)):
        slot = maps.slots[cluster]
        if slot < 0:
            continue
        _place(maps, slot, place)
        start = members.starts[cluster]
        for at in range(members.starts[cluster + 1] - start):
            row = members.order[start + at]
            for i in range(rows.ends[row], rows.ends[row + 1]):
                reading, low, high = rows.constraints[i]
                if place[reading] < 0:
                    continue
                lower, upper = _edges(maps.maps[place[reading]], low, high, 2 * counts[reading])
                if lower >= 0:
                    edges[2 * free[lower]], edges[2 * free[lower] + 1] = at, low
                    free[lower] += 1
                if upper >= 0:
                    edges[2 * free[upper]], edges[2 * free[upper] + 1] = ~at, high
                    free[upper] += 1
        _unplace(maps, slot, place)
    return edges
