"""Which subscriptions accept an event: the index as its users see it."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from polycast.errors import BadInput
from polycast.interest.cesql import Expression, Program
from polycast.interest.index import storage
from polycast.interest.index.level import Level, level_of, merged_level
from polycast.interest.index.names import encoded, named
from polycast.interest.index.normal_form import NormalForm
from polycast.interest.index.programs import Alive, Programs, merged, uses, written
from polycast.interest.index.vocabulary import Vocabulary

FRESH = 256  # subscriptions that are asked one by one, before they become a level
RATIO = 4  # a level is merged into the one before it if that is fewer times as large
BATCH = 1 << 16  # subscriptions that are read together when an index is built


class MatchIndex:
    """Subscriptions by name, each with the expression that its filters make (``interest.dialects``).

    It answers exactly what ``Program.accepts`` answers for every one of them.
    """

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._levels: list[Level] = []
        self._removed = 0
        self._fresh: dict[str, Expression] = {}
        self._programs: dict[str, Program] = {}  # of those fresh ones that have been asked

    @classmethod
    def of(cls, subscriptions: Iterable[tuple[str, Expression]]) -> Self:
        """An index of many subscriptions at once. The iterable is read once, and not kept."""
        index = cls()
        parts: list[Programs] = []
        seen: set[str] = set()
        source = iter(subscriptions)
        while batch := list(islice(source, BATCH)):
            for name, _ in batch:
                if name in seen:
                    raise _twice(name)
                seen.add(name)
            parts.append(index._read(batch))
        if parts:
            index._settle(parts)
            alive = [Alive(part, np.zeros(len(part.ends) - 1, np.uint8)) for part in parts]
            index._levels.append(level_of(merged(alive, index._vocabulary), index._vocabulary))
        return index

    def __len__(self) -> int:
        return sum(level.total for level in self._levels) - self._removed + len(self._fresh)

    def __contains__(self, name: str) -> bool:
        return name in self._fresh or self._find(name) is not None

    def match(self, attributes: Mapping[str, Any]) -> list[str]:
        """The subscriptions that accept an event with these attributes, in the order in which they were added."""
        found: list[str] = []
        if self._levels:
            sight = self._vocabulary.look(attributes)
            for level in self._levels:
                found += named(level.programs.names, level.match(self._vocabulary, sight, attributes))
        return found + [name for name in self._fresh if self._program(name).accepts(attributes)]

    def add(self, name: str, expression: Expression) -> None:
        """Add a subscription behind all others; ``BadInput`` if there is one of this name."""
        if name in self:
            raise _twice(name)
        self._fresh[name] = expression
        if len(self._fresh) >= FRESH:
            self._flush()

    def remove(self, name: str) -> None:
        """Take a subscription out; ``BadInput`` if there is none of this name."""
        if self._fresh.pop(name, None) is not None:
            self._programs.pop(name, None)
            return
        place = self._find(name)
        if place is None:
            raise BadInput(f'subscription "{name}"', "there is none of this name")
        level, number = place
        level.dead[number] = 1
        self._removed += 1
        if 2 * self._removed > sum(level.total for level in self._levels):
            self._merge(0)

    def save(self, folder: Path) -> None:
        """Write the index to a folder, which need not exist; what was there stays until all is written."""
        self._flush()
        storage.save(folder, self._vocabulary, self._levels)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The index in a folder, which all processes that open it share; ``BadInput`` if none is there.

        It can be added to and removed from; the folder stays as it is until the next ``save``.
        """
        index = cls()
        index._vocabulary, index._levels = storage.open(folder)
        index._removed = sum(int(level.dead.sum()) for level in index._levels)
        return index

    def _program(self, name: str) -> Program:
        if name not in self._programs:
            self._programs[name] = Program(self._fresh[name])
        return self._programs[name]

    def _find(self, name: str) -> tuple[Level, int] | None:
        text = encoded(name)
        for level in reversed(self._levels):
            number = level.find(text)
            if number >= 0:
                return level, number
        return None

    def _read(self, batch: Iterable[tuple[str, Expression]]) -> Programs:
        form = NormalForm(self._vocabulary)
        names, code, ends = [], array("i"), array("q", [0])
        for name, expression in batch:
            names.append(encoded(name))
            code.fromlist(form.program(expression))
            ends.append(len(code) // 3)
        return written(form, np.array(code, np.int32).reshape(-1, 3), np.array(ends, np.int64), names)

    def _settle(self, parts: Sequence[Programs]) -> None:
        readings = len(self._vocabulary.readings)
        used = np.sum([uses(part, readings) for part in parts], axis=0)
        settled = sum(level.total for level in self._levels) + sum(len(part.ends) - 1 for part in parts)
        self._vocabulary.settle(used, settled)

    def _flush(self) -> None:
        """Make a level of what is fresh, and merge levels that are not much larger than those behind them."""
        if not self._fresh:
            return
        programs = self._read(self._fresh.items())
        self._settle([programs])
        self._levels.append(level_of(programs, self._vocabulary))
        self._fresh.clear()
        self._programs.clear()
        first = len(self._levels) - 1
        size = self._levels[first].total
        while first and self._levels[first - 1].total < RATIO * size:
            first -= 1
            size += self._levels[first].total
        if first < len(self._levels) - 1:
            self._merge(first)

    def _merge(self, first: int) -> None:
        """Make one level of all from this one on, without what has been removed."""
        merging = self._levels[first:]
        dead = sum(int(level.dead.sum()) for level in merging)
        if len(merging) > 1 or dead:
            self._levels[first:] = [merged_level(merging, self._vocabulary)] if len(merging) else []
            self._removed -= dead


def _twice(name: str) -> BadInput:
    return BadInput(f'subscription "{name}"', "there is one of this name already")
