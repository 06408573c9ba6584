"""Find the programs that accept an event: clusters, then bitmaps, then the programs of what is left."""

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray

from polycast.interest.index.bitmaps import ALL, EDGES, MOST, READING, START, Bitmaps, bucket
from polycast.interest.index.clusters import Clusters
from polycast.interest.index.cover import operands_of
from polycast.interest.index.normal_form import AND, CONST, NOT, OR, QUIET
from polycast.interest.index.prefetch import prefetch
from polycast.interest.index.vocabulary import ERROR, FALSE, UNKNOWN
from polycast.kernel import kernel

AHEAD = 32  # programs that are brought into the cache together
STRIDE = 5  # instructions, nearly a line of the cache
LINE = 8  # words of a line of the cache

_FALSE, _TRUE, _ERROR, _UNKNOWN, _NOT_TRUE = 0, 1, 2, 3, 4
"""What a program says. While readings are missing, it may be unknown, or known not to be true and no more."""


@kernel
def match(
    codes: NDArray[np.int32],
    clusters: Clusters,
    maps: Bitmaps,
    code: NDArray[np.int32],
    ends: NDArray[np.int64],
    deepest: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The programs that accept an event, a bit for each, and those that must see more of it."""
    found = np.zeros((len(ends) + 62) >> 6, np.uint64)
    candidates = np.empty(len(clusters.programs), np.int32)
    left = np.empty((len(candidates) + 63) >> 6, np.uint64)
    met = _met(codes, clusters)
    aims = np.empty((2, MOST, 3), np.int64)
    doubtful = 0
    for i in range(len(met) + 1):
        if i < len(met):
            _aim(codes, clusters, maps, met[i], aims[i & 1])
        if i > 0:
            cluster = met[i - 1]
            first, end, slot = clusters.starts[cluster], clusters.starts[cluster + 1], maps.slots[cluster]
            if slot >= 0:
                _sift(maps, aims[(i - 1) & 1, : maps.ends[slot + 1] - maps.ends[slot]], end - first, left)
                doubtful = _take(clusters.programs, first, end, maps, slot, left, found, candidates, doubtful)
            else:
                candidates[doubtful : doubtful + end - first] = clusters.programs[first:end]
                doubtful += end - first
    return found, _verified(candidates[:doubtful], code, ends, codes, deepest, found)


@kernel
def _met(codes: NDArray[np.int32], clusters: Clusters) -> NDArray[np.int64]:
    """The clusters in which an event's keys lie."""
    grids = clusters.grids
    met = np.zeros(len(grids.reading) + 1, np.int64)
    count = 1
    for grid in range(len(grids.reading)):
        rank = codes[grids.reading[grid]]
        if rank >= 0:
            cluster = grids.base[grid] + ((rank + grids.half[grid]) >> grids.shift[grid])
            if clusters.starts[cluster] < clusters.starts[cluster + 1]:
                met[count] = cluster
                count += 1
    return met[:count]


@kernel
def _aim(
    codes: NDArray[np.int32], clusters: Clusters, maps: Bitmaps, cluster: int, aims: NDArray[np.int64]
) -> None:
    """Write down where an event looks in each bitmap of a cluster, and have that fetched."""
    slot = maps.slots[cluster]
    if slot < 0:
        return
    designs, words, edge_starts = maps.maps, maps.words, maps.edge_starts
    width = (clusters.starts[cluster + 1] - clusters.starts[cluster] + 63) >> 6
    for j in range(maps.ends[slot], maps.ends[slot + 1]):
        rank = codes[designs[j, READING]]
        place = bucket(designs, j, rank)
        start, edge = designs[j, START] + place * width, designs[j, EDGES] + place
        aim = j - maps.ends[slot]
        aims[aim, 0], aims[aim, 1], aims[aim, 2] = start, edge, rank
        prefetch(edge_starts, edge)
        for word in range(start, start + width + LINE - 1, LINE):
            prefetch(words, word)


@kernel
def _sift(maps: Bitmaps, aims: NDArray[np.int64], members: int, left: NDArray[np.uint64]) -> None:
    """Leave those rows of a cluster that pass all its bitmaps."""
    words, edge_starts, edges = maps.words, maps.edge_starts, maps.edges
    width = (members + 63) >> 6
    left[:width] = ALL
    if members & 63:
        left[width - 1] = (np.uint64(1) << np.uint64(members & 63)) - np.uint64(1)
    for aim in range(len(aims)):
        start = aims[aim, 0]
        prefetch(edges, 2 * edge_starts[aims[aim, 1]])
        for k in range(width):
            left[k] &= words[start + k]
    for aim in range(len(aims)):
        edge, rank = aims[aim, 1], aims[aim, 2]
        for i in range(edge_starts[edge], edge_starts[edge + 1]):
            row, bound = edges[2 * i], edges[2 * i + 1]
            is_upper = row >> 31
            fails = np.uint64((rank < bound) & ~is_upper | (rank > bound) & is_upper)
            row ^= is_upper
            left[row >> 6] &= ~(fails << np.uint64(row & 63))


@kernel
def _take(
    programs: NDArray[np.int32],
    first: int,
    end: int,
    maps: Bitmaps,
    slot: int,
    left: NDArray[np.uint64],
    found: NDArray[np.uint64],
    candidates: NDArray[np.int32],
    doubtful: int,
) -> int:
    """Add the rows that are left to those that are found, or else to the candidates; how many these are."""
    words, told = maps.words, maps.told[slot]
    for k in range((end - first + 63) >> 6):
        word, certain = left[k], words[told + k]
        while word:
            bit: int = trailing_zeros(word)  # type: ignore[call-arg]
            program = programs[first + 64 * k + bit]
            if (certain >> np.uint64(bit)) & np.uint64(1):
                found[program >> 6] |= np.uint64(1) << np.uint64(program & 63)
            else:
                candidates[doubtful] = program
                doubtful += 1
            word &= word - np.uint64(1)
    return doubtful


@kernel
def _verified(
    candidates: NDArray[np.int32],
    code: NDArray[np.int32],
    ends: NDArray[np.int64],
    codes: NDArray[np.int32],
    deepest: int,
    found: NDArray[np.uint64],
) -> NDArray[np.int32]:
    """Mark the candidates that accept an event; which of them must see more of it."""
    stack = np.empty(deepest, np.int8)
    near = np.empty((AHEAD, 2), np.int64)
    unsure = 0
    for first in range(0, len(candidates), AHEAD):
        part = candidates[first : min(first + AHEAD, len(candidates))]
        _fetch(part, code, ends, near)
        for i in range(len(part)):
            answer = evaluate(code, near[i, 0], near[i, 1], codes, stack)
            if answer == _TRUE:
                _mark(found, part[i])
            elif answer == _UNKNOWN:
                candidates[unsure] = part[i]
                unsure += 1
    return candidates[:unsure]


@kernel
def _mark(found: NDArray[np.uint64], program: int) -> None:
    found[program >> 6] |= np.uint64(1) << np.uint64(program & 63)


@kernel
def listed(found: NDArray[np.uint64], dead: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The numbers of programs whose bits are set and that have not been removed, in order."""
    filled = np.empty(len(found), np.int32)
    words = count = 0
    for k in range(len(found)):  # without a branch, which would be guessed wrong at every word that has a bit
        filled[words] = k
        words += found[k] != 0
    numbers = np.empty(64 * words, np.int32)
    for k in filled[:words]:
        word = found[k]
        while word:
            bit: int = trailing_zeros(word)  # type: ignore[call-arg]
            number = 64 * k + bit
            numbers[count] = number
            count += 1 - dead[number]
            word &= word - np.uint64(1)
    return numbers[:count].copy()


@kernel
def _fetch(
    part: NDArray[np.int32], code: NDArray[np.int32], ends: NDArray[np.int64], near: NDArray[np.int64]
) -> None:
    """Write down where programs begin and end, and have them fetched: at once, not each after the other."""
    for i in range(len(part)):
        near[i, 0], near[i, 1] = ends[part[i]], ends[part[i] + 1]
    flat = code.reshape(-1)
    for i in range(len(part)):
        for at in range(near[i, 0], near[i, 1], STRIDE):
            prefetch(flat, 3 * at)


@kernel
def evaluate(
    code: NDArray[np.int32], start: int, end: int, codes: NDArray[np.int32], stack: NDArray[np.int8]
) -> int:
    """What a program says of an event: true, false, an error, or that it must be asked again."""
    height = 0
    for at in range(start, end):
        operator = code[at, 0]
        if operator >= 0:
            rank = codes[operator]
            if rank >= 0:
                answer = int((code[at, 1] <= rank) & (rank <= code[at, 2]))  # a branch would be guessed wrong
            elif rank == FALSE:
                answer = _FALSE
            else:
                answer = _ERROR if rank == ERROR else _UNKNOWN
        elif operator in (AND, OR):
            operands = code[at, 1]
            height -= operands
            answer = _all(stack, height, operands) if operator == AND else _any(stack, height, operands)
        elif operator == NOT:
            height -= 1
            answer = stack[height]
            if answer <= _TRUE:
                answer = 1 - answer
            elif answer == _NOT_TRUE:
                answer = _UNKNOWN
        elif operator == QUIET:
            height -= 1
            answer = stack[height]
            if answer in (_ERROR, _NOT_TRUE):
                answer = _FALSE
        elif operator == CONST:
            answer = code[at, 1]
        else:
            height -= 2
            left, right = stack[height], stack[height + 1]
            answer = left ^ right if max(left, right) <= _TRUE else min(max(left, right), _UNKNOWN)
        stack[height] = answer
        height += 1
    return int(stack[0])


@kernel
def _all(stack: NDArray[np.int8], first: int, count: int) -> int:
    """AND: the first operand that is not true decides; if it is unknown, any other that is not true is enough."""
    is_unknown = False
    for at in range(first, first + count):
        operand = stack[at]
        if operand == _UNKNOWN:
            is_unknown = True
        elif operand != _TRUE:
            return _NOT_TRUE if is_unknown else int(operand)
    return _UNKNOWN if is_unknown else _TRUE


@kernel
def _any(stack: NDArray[np.int8], first: int, count: int) -> int:
    """OR: the first operand that is not false decides, but for one that may still be false."""
    is_vague = False
    for at in range(first, first + count):
        operand = stack[at]
        if operand == _NOT_TRUE:
            is_vague = True
        elif operand != _FALSE:
            if not is_vague:
                return int(operand)
            if operand != _ERROR:
                return _UNKNOWN
    return _NOT_TRUE if is_vague else _FALSE


@kernel
def again(
    pending: NDArray[np.int32],
    code: NDArray[np.int32],
    ends: NDArray[np.int64],
    codes: NDArray[np.int32],
    deepest: int,
    found: NDArray[np.uint64],
) -> None:
    """Mark those programs that accept an event, now that all is known that they read of it."""
    stack = np.empty(deepest, np.int8)
    for program in pending:
        if evaluate(code, ends[program], ends[program + 1], codes, stack) == _TRUE:
            _mark(found, program)


@kernel
def unread(
    pending: NDArray[np.int32], code: NDArray[np.int32], ends: NDArray[np.int64], codes: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The readings that programs still lack, each once."""
    missing = np.zeros(len(codes), np.bool_)
    for program in pending:
        for at in range(ends[program], ends[program + 1]):
            if code[at, 0] >= 0 and codes[code[at, 0]] == UNKNOWN:
                missing[code[at, 0]] = True
    return np.flatnonzero(missing).astype(np.int32)


@kernel
def depth(code: NDArray[np.int32], ends: NDArray[np.int64]) -> int:
    """How high the stack of any program becomes."""
    deepest = 1
    for i in range(len(ends) - 1):
        height = 0
        for at in range(ends[i], ends[i + 1]):
            height += 1 - operands_of(code, at)
            deepest = max(deepest, height)
    return deepest
