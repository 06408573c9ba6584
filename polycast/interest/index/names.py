"""The names of subscriptions, a million of them as a few arrays, and which one has a name."""

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from polycast.kernel import kernel

_BETWEEN = 0  # a byte that separates names on their way out; names that hold it are cut one by one


class Names(NamedTuple):
    """Names by number.

    Attributes
    ----------
    ends
        Where in ``texts`` each name ends; a zero byte stands before the next.
    slots
        A hash table with open addressing: numbers, -1 where a slot is free.
    """

    ends: NDArray[np.int64]
    texts: NDArray[np.uint8]
    slots: NDArray[np.int32]


def names_of(texts: Sequence[bytes]) -> Names:
    """Names in this order."""
    blob = np.frombuffer(bytearray(b"".join(text + b"\0" for text in texts)), np.uint8)
    hashes = np.fromiter(map(crc32, texts), np.int64, len(texts))
    return Names(np.cumsum([0, *[len(text) + 1 for text in texts]]), blob, _table(hashes))


def encoded(name: str) -> bytes:
    """A name as it is kept."""
    return name.encode("utf-8", "surrogatepass")


def texts_of(names: Names, wanted: NDArray[np.int64]) -> list[bytes]:
    """The names of these numbers, as bytes."""
    blob = names.texts.tobytes()
    starts, ends = names.ends[wanted].tolist(), names.ends[wanted + 1].tolist()
    return [blob[start : end - 1] for start, end in zip(starts, ends, strict=True)]


def named(names: Names, wanted: NDArray[np.int32]) -> list[str]:
    """The names of these numbers."""
    if not len(wanted):
        return []
    text = _gathered(names.ends, names.texts, wanted).tobytes()[:-1].decode("utf-8", "surrogatepass")
    found = text.split("\0")
    if len(found) != len(wanted):
        return [text.decode("utf-8", "surrogatepass") for text in texts_of(names, wanted.astype(np.int64))]
    return found


def find(names: Names, name: bytes, dead: NDArray[np.uint8]) -> int:
    """The number of a name that is alive; -1 if there is none."""
    return _find(names.ends, names.texts, names.slots, dead, np.frombuffer(name, np.uint8), crc32(name))


@kernel
def _table(hashes: NDArray[np.int64]) -> NDArray[np.int32]:
    size = 8
    while size < 2 * len(hashes):
        size *= 2
    slots = np.full(size, -1, np.int32)
    for number in range(len(hashes)):
        slot = hashes[number] & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = number
    return slots


@kernel
def _find(
    ends: NDArray[np.int64],
    texts: NDArray[np.uint8],
    slots: NDArray[np.int32],
    dead: NDArray[np.uint8],
    name: NDArray[np.uint8],
    digest: int,
) -> int:
    slot = digest & (len(slots) - 1)
    while slots[slot] >= 0:
        number = slots[slot]
        start = ends[number]
        if not dead[number] and ends[number + 1] - 1 - start == len(name):
            same = True
            for i in range(len(name)):
                if texts[start + i] != name[i]:
                    same = False
                    break
            if same:
                return int(number)
        slot = (slot + 1) & (len(slots) - 1)
    return -1


@kernel
def _gathered(ends: NDArray[np.int64], texts: NDArray[np.uint8], wanted: NDArray[np.int32]) -> NDArray[np.uint8]:
    size = 0
    for number in wanted:
        size += ends[number + 1] - ends[number]
    found = np.empty(size, np.uint8)
    at = 0
    for number in wanted:
        for i in range(ends[number], ends[number + 1]):
            found[at] = texts[i]
            at += 1
    return found
