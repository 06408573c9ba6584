"""Find the programs that accept an event: clusters, then bitmaps, then the programs of what is left."""

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray

from polycast.interest.index.bitmaps import ALL, BUCKETS, KIND, RANGES, READING, START, bucket
from polycast.interest.index.cover import operands_of
from polycast.interest.index.normal_form import AND, CONST, NOT, OR, QUIET
from polycast.interest.index.vocabulary import ERROR, FALSE, UNKNOWN
from polycast.kernel import kernel

AHEAD = 32  # programs that are brought into the cache together
STRIDE = 5  # instructions, nearly a line of the cache

_FALSE, _TRUE, _ERROR, _UNKNOWN, _NOT_TRUE = 0, 1, 2, 3, 4
"""What a program says. While readings are missing, it may be unknown, or known not to be true and no more."""


@kernel
def match(
    codes: NDArray[np.int32],
    grid_reading: NDArray[np.int32],
    grid_shift: NDArray[np.int32],
    grid_half: NDArray[np.int32],
    grid_base: NDArray[np.int64],
    starts: NDArray[np.int32],
    programs: NDArray[np.int32],
    slots: NDArray[np.int32],
    map_ends: NDArray[np.int64],
    exact: NDArray[np.int64],
    maps: NDArray[np.int64],
    words: NDArray[np.uint64],
    code: NDArray[np.int32],
    ends: NDArray[np.int64],
    dead: NDArray[np.uint8],
    deepest: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The programs that accept an event, and those that must see more of it."""
    candidates, accepted = np.empty(len(programs), np.int32), np.empty(len(programs), np.int32)
    doubtful = certain = 0
    for grid in range(-1, len(grid_reading)):
        cluster = np.int64(0)
        if grid >= 0:
            rank = codes[grid_reading[grid]]
            if rank < 0:
                continue
            cluster = grid_base[grid] + ((rank + grid_half[grid]) >> grid_shift[grid])
        start, end = starts[cluster], starts[cluster + 1]
        slot = slots[cluster]
        if slot < 0:
            candidates[doubtful : doubtful + end - start] = programs[start:end]
            doubtful += end - start
        else:
            told = words[exact[slot] : exact[slot] + ((end - start + 63) >> 6)]
            designs = maps[map_ends[slot] : map_ends[slot + 1]]
            members = programs[start:end]
            doubtful, certain = _sift(
                codes, members, told, designs, words, candidates, doubtful, accepted, certain
            )
    stack = np.empty(deepest, np.int8)
    pending = np.empty(16, np.int32)
    near = np.empty((AHEAD + 1, 2), np.int64)
    unsure = living = 0
    for i in range(certain):
        if not dead[accepted[i]]:
            accepted[living] = accepted[i]
            living += 1
    for first in range(0, doubtful, AHEAD):
        part = candidates[first : min(first + AHEAD, doubtful)]
        _fetch(part, code, ends, near)
        for i in range(len(part)):
            program = part[i]
            if dead[program]:
                continue
            answer = evaluate(code, near[i, 0], near[i, 1], codes, stack)
            if answer == _TRUE:
                accepted[living] = program
                living += 1
            elif answer == _UNKNOWN:
                if unsure == len(pending):
                    pending = np.concatenate((pending, np.empty_like(pending)))
                pending[unsure] = program
                unsure += 1
    return accepted[:living], pending[:unsure]


@kernel
def _fetch(
    part: NDArray[np.int32], code: NDArray[np.int32], ends: NDArray[np.int64], near: NDArray[np.int64]
) -> None:
    """Write down where programs begin and end, and bring them into the cache: at once, not each after the other.

    The sum is written behind the last, or else the compiler would see that nobody asks for it, and read nothing.
    """
    for i in range(len(part)):
        near[i, 0], near[i, 1] = ends[part[i]], ends[part[i] + 1]
    read = 0
    for i in range(len(part)):
        for at in range(near[i, 0], near[i, 1], STRIDE):
            read += code[at, 0]
    near[len(near) - 1, 0] = read


@kernel
def _sift(
    codes: NDArray[np.int32],
    members: NDArray[np.int32],
    told: NDArray[np.uint64],
    designs: NDArray[np.int64],
    words: NDArray[np.uint64],
    candidates: NDArray[np.int32],
    doubtful: int,
    accepted: NDArray[np.int32],
    certain: int,
) -> tuple[int, int]:
    """Add the rows of a cluster that pass all its bitmaps: to those that fit for certain, or to those that may."""
    width = len(told)
    left, sure = np.full(width, ALL, np.uint64), told.copy()
    if len(members) & 63:
        left[width - 1] = (np.uint64(1) << np.uint64(len(members) & 63)) - np.uint64(1)
    for j in range(len(designs)):
        rank = codes[designs[j, READING]]
        if rank == UNKNOWN:
            sure[:] = 0
            continue
        start = designs[j, START] + bucket(designs[j], rank) * width
        may = words[start : start + width]
        for k in range(width):
            left[k] &= may[k]
        if designs[j, KIND] == RANGES:
            start += (designs[j, BUCKETS] + 1) * width
            does = words[start : start + width]
            for k in range(width):
                sure[k] &= does[k]
    for k in range(width):
        word = left[k]
        while word:
            bit: int = trailing_zeros(word)  # type: ignore[call-arg]
            member = members[64 * k + bit]
            if (sure[k] >> np.uint64(bit)) & np.uint64(1):
                accepted[certain] = member
                certain += 1
            else:
                candidates[doubtful] = member
                doubtful += 1
            word &= word - np.uint64(1)
    return doubtful, certain


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
            chain = stack[height : height + operands]
            answer = _all(chain) if operator == AND else _any(chain)
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
def _all(operands: NDArray[np.int8]) -> int:
    """AND: the first operand that is not true decides; if it is unknown, any other that is not true is enough."""
    is_unknown = False
    for operand in operands:
        if operand == _UNKNOWN:
            is_unknown = True
        elif operand != _TRUE:
            return _NOT_TRUE if is_unknown else int(operand)
    return _UNKNOWN if is_unknown else _TRUE


@kernel
def _any(operands: NDArray[np.int8]) -> int:
    """OR: the first operand that is not false decides, but for one that may still be false."""
    is_vague = False
    for operand in operands:
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
) -> NDArray[np.int32]:
    """Those programs that accept an event, now that all is known that they read of it."""
    stack = np.empty(deepest, np.int8)
    accepted = np.empty_like(pending)
    found = 0
    for program in pending:
        if evaluate(code, ends[program], ends[program + 1], codes, stack) == _TRUE:
            accepted[found] = program
            found += 1
    return accepted[:found]


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
