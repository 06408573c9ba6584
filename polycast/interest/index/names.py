"""The names of subscriptions, a million of them as a few arrays, and which one has a name."""

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.prefetch import prefetch
from polycast.kernel import kernel

_WORD = 8  # bytes
_ENDINGS = [b"\0" + b"\xff" * (_WORD - 1 - over) for over in range(_WORD)]
"""Behind a name whose last word has so many bytes: a zero, which separates names on their way out, and bytes that
no UTF-8 has. Names that hold a zero are cut one by one."""


class Names(NamedTuple):
    """Names by number.

    Attributes
    ----------
    ends
        Where in ``words`` each name ends.
    slots
        A hash table with open addressing: numbers, -1 where a slot is free.
    """

    ends: NDArray[np.int32]
    words: NDArray[np.uint64]
    slots: NDArray[np.int32]


def names_of(texts: Sequence[bytes]) -> Names:
    """Names in this order."""
    words = np.frombuffer(bytearray(b"".join(map(_filled, texts))), np.uint64)
    lengths = np.fromiter(map(len, texts), np.int32, len(texts)) // _WORD + 1
    hashes = np.fromiter(map(crc32, texts), np.int64, len(texts))
    return Names(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), words, _table(hashes))


def encoded(name: str) -> bytes:
    """A name as it is kept."""
    return name.encode("utf-8", "surrogatepass")


def texts_of(names: Names, wanted: NDArray[np.int64]) -> list[bytes]:
    """The names of these numbers, as bytes."""
    blob = names.words.tobytes()
    starts, ends = (_WORD * names.ends[wanted]).tolist(), (_WORD * names.ends[wanted + 1]).tolist()
    return [blob[start:end].rstrip(b"\xff")[:-1] for start, end in zip(starts, ends, strict=True)]


def named(names: Names, wanted: NDArray[np.int32]) -> list[str]:
    """The names of these numbers."""
    if not len(wanted):
        return []
    text = _gathered(names.ends, names.words, wanted).tobytes().translate(None, b"\xff")[:-1]
    found = text.decode("utf-8", "surrogatepass").split("\0")
    if len(found) != len(wanted):
        return [text.decode("utf-8", "surrogatepass") for text in texts_of(names, wanted.astype(np.int64))]
    return found


def find(names: Names, name: bytes, dead: NDArray[np.uint8]) -> int:
    """The number of a name that is alive; -1 if there is none."""
    return _find(names.ends, names.words, names.slots, dead, np.frombuffer(_filled(name), np.uint64), crc32(name))


def _filled(name: bytes) -> bytes:
    return name + _ENDINGS[len(name) % _WORD]


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
    ends: NDArray[np.int32],
    words: NDArray[np.uint64],
    slots: NDArray[np.int32],
    dead: NDArray[np.uint8],
    name: NDArray[np.uint64],
    digest: int,
) -> int:
    slot = digest & (len(slots) - 1)
    while slots[slot] >= 0:
        number = slots[slot]
        start = ends[number]
        if not dead[number] and ends[number + 1] - start == len(name):
            same = True
            for i in range(len(name)):
                if words[start + i] != name[i]:
                    same = False
                    break
            if same:
                return int(number)
        slot = (slot + 1) & (len(slots) - 1)
    return -1


@kernel
def _gathered(ends: NDArray[np.int32], words: NDArray[np.uint64], wanted: NDArray[np.int32]) -> NDArray[np.uint64]:
    """The words of names, one after the other. Places are fetched together, and then words are."""
    size = 0
    for number in wanted:
        prefetch(ends, number)
    for number in wanted:
        prefetch(words, ends[number])
        size += ends[number + 1] - ends[number]
    found = np.empty(size, np.uint64)
    at = 0
    for number in wanted:
        for i in range(ends[number], ends[number + 1]):
            found[at] = words[i]
            at += 1
    return found
