"""Identifiers of brokers and keys: 16 hexadecimal digits, the first the most significant."""

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel

Identifiers = npt.NDArray[np.uint64]

BASE = 16
DIGITS = 16


def key_of(name: str) -> np.uint64:
    """The key of a name: evenly spread, the same on every machine."""
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big"))


def identifiers(names: Iterable[str]) -> Identifiers:
    """The key of every name."""
    return np.array([key_of(name) for name in names], np.uint64)


@kernel
def digit(identifier: np.uint64, level: int) -> int:
    """The digit at a level; level 0 has the first."""
    return int(np.int64((identifier >> np.uint64(4 * (DIGITS - 1 - level))) & np.uint64(BASE - 1)))


@kernel
def shared_digits(first: np.uint64, second: np.uint64) -> int:
    """How many digits two identifiers have in common before they differ."""
    level = 0
    while level < DIGITS and digit(first, level) == digit(second, level):
        level += 1
    return level
