"""How far a copy of a value is from another: what a server's tolerance is measured in (Fidelity, section 2.1).

Users add functions of their own. One that is a distance, in that going by way of a third version is never shorter
(the triangle inequality), lets every broker filter for those below it; for one that is not, say ``metric=False``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polycast.errors import BadInput


@dataclass(frozen=True)
class Version:
    """One state of an object: its value, how many changes led to it, and when the source made it, in seconds."""

    value: Any
    number: int = 0
    time: float = 0.0


@dataclass(frozen=True)
class Divergence:
    """A named measure; ``between`` takes two versions, in either order, and is 0 or more."""

    name: str
    between: Callable[[Version, Version], float]
    metric: bool = True

    def __call__(self, one: Version, other: Version) -> float:
        return self.between(one, other)


def _absolute(one: Version, other: Version) -> float:
    return abs(float(one.value) - float(other.value))


def _relative(one: Version, other: Version) -> float:
    larger = max(abs(one.value), abs(other.value))
    return abs(one.value - other.value) / larger if larger else 0.0


def _edits(one: Version, other: Version) -> float:
    return float(edit_distance(one.value, other.value))


def edit_distance(one: str, other: str) -> int:
    """How many characters to insert, delete or replace to make one text of the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


ABSOLUTE = Divergence("absolute", _absolute)
RELATIVE = Divergence("relative", _relative)
EDITS = Divergence("edits", _edits)
CHANGES = Divergence("changes", lambda one, other: abs(one.number - other.number))
AGE = Divergence("age", lambda one, other: abs(one.time - other.time))

DIVERGENCES = {measure.name: measure for measure in (ABSOLUTE, RELATIVE, EDITS, CHANGES, AGE)}


def divergence(name: str) -> Divergence:
    """The measure of a name."""
    if name not in DIVERGENCES:
        raise BadInput("divergence", f'"{name}" is none of {", ".join(DIVERGENCES)}')
    return DIVERGENCES[name]
