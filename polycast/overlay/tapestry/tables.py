"""The routing tables: for every broker, level and digit, the nearest of the brokers that go on from there.

At level `l`, the entry for a digit names brokers that share the first `l` digits with the broker itself and have
that digit next. An entry is empty exactly if there is no such broker; one that would name the broker itself stays
empty too.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.overlay.shortest_paths import Floats, Indices
from polycast.overlay.tapestry.identifiers import BASE, DIGITS, Identifiers, digit
from polycast.overlay.tapestry.proximity import Space, distance

# Proximity neighbour choice looks at this many of the brokers that fit, and at all of them where there are fewer.
SAMPLE = 128

NOBODY = -1

Tables = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class Directory(NamedTuple):
    """The living brokers in the order of their identifiers, so that those with a common prefix stand together."""

    identifier: Identifiers
    broker: Indices


def directory_of(identifier: Identifiers, alive: Flags) -> Directory:
    """The directory of those that are alive."""
    members = np.flatnonzero(alive)
    order = members[np.argsort(identifier[members], kind="stable")].astype(np.int32)
    return Directory(identifier[order], order)


def depth_of(directory: Directory) -> int:
    """How many levels tables need: one more than the most digits that two brokers share."""
    if len(directory.broker) < 2:
        return 1
    apart = directory.identifier[1:] ^ directory.identifier[:-1]
    return DIGITS - int(int(apart.min()).bit_length() - 1) // 4


@kernel
def fill(directory: Directory, space: Space, tables: Tables, first: int, last: int) -> None:
    """Fill the tables of some brokers, those at ``first`` up to ``last`` in the directory, from nothing."""
    for position in range(first, last):
        broker, own = directory.broker[position], directory.identifier[position]
        low, high = 0, len(directory.broker)
        for level in range(tables.shape[1]):
            if high - low < 2:
                break
            next_low, next_high = low, low
            start = low
            for d in range(BASE):
                end = end_of(directory.identifier, own, level, d, start, high)
                if d == digit(own, level):
                    next_low, next_high = start, end
                else:
                    choose(directory, space, broker, start, end, tables[broker, level, d])
                start = end
            low, high = next_low, next_high


@kernel
def end_of(identifiers: Identifiers, own: np.uint64, level: int, d: int, start: int, high: int) -> int:
    """Where those end that share the digits before ``level`` with ``own`` and have at most digit ``d`` there."""
    shift = np.uint64(4 * (DIGITS - 1 - level))
    rest = (np.uint64(1) << shift) - np.uint64(1)
    before = (own >> shift >> np.uint64(4)) << shift << np.uint64(4)
    highest = before | (np.uint64(d) << shift) | rest
    low = start
    while low < high:
        middle = (low + high) // 2
        if identifiers[middle] <= highest:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def choose(directory: Directory, space: Space, broker: int, start: int, end: int, entry: Indices) -> None:
    """Put the nearest brokers of a stretch of the directory into an entry, the very nearest first."""
    entry[:] = NOBODY
    many = end - start
    looks = min(many, SAMPLE)
    offset = (broker * 7919) % many if many else 0
    near = np.full(len(entry), np.inf)
    brokers = directory.broker
    for position in range(start + offset, start + offset + looks):
        candidate = brokers[position if position < end else position - many]
        apart = distance(space, broker, candidate)
        if apart < near[-1] and candidate != broker:
            insert(entry, near, candidate, apart)


@kernel
def offer(space: Space, broker: int, candidate: int, entry: Indices) -> bool:
    """Let a broker into an entry if there is room or it is nearer than another, and say whether it was."""
    near = np.full(len(entry), np.inf)
    for place, neighbour in enumerate(entry):
        if neighbour == candidate:
            return False
        if neighbour != NOBODY:
            near[place] = distance(space, broker, neighbour)
    return insert(entry, near, candidate, distance(space, broker, candidate))


@kernel
def insert(entry: Indices, near: Floats, candidate: int, apart: float) -> bool:
    """Put a candidate where its distance belongs in an entry of known distances, if it is not too far."""
    place = len(entry)
    while place > 0 and apart < near[place - 1]:
        place -= 1
    if place == len(entry):
        return False
    for position in range(len(entry) - 1, place, -1):
        entry[position], near[position] = entry[position - 1], near[position - 1]
    entry[place], near[place] = candidate, apart
    return True
