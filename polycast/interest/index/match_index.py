"""Which subscriptions accept an event: the index as its users see it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from polycast.errors import BadInput
from polycast.interest.cesql import Expression, Program

VERSION = 1


class MatchIndex:
    """Subscriptions by name, each with the expression that its filters make (``interest.dialects``).

    It answers exactly what ``Program.accepts`` answers for every one of them.
    """

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}

    @classmethod
    def of(cls, subscriptions: Iterable[tuple[str, Expression]]) -> Self:
        """An index of many subscriptions at once. The iterable is read once, and not kept."""
        index = cls()
        for name, expression in subscriptions:
            index.add(name, expression)
        return index

    def __len__(self) -> int:
        return len(self._programs)

    def __contains__(self, name: str) -> bool:
        return name in self._programs

    def match(self, attributes: Mapping[str, Any]) -> list[str]:
        """The subscriptions that accept an event with these attributes, in the order in which they were added."""
        return [name for name, program in self._programs.items() if program.accepts(attributes)]

    def add(self, name: str, expression: Expression) -> None:
        """Add a subscription behind all others; ``BadInput`` if there is one of this name."""
        if name in self._programs:
            raise BadInput(f'subscription "{name}"', "there is one of this name already")
        self._programs[name] = Program(expression)

    def remove(self, name: str) -> None:
        """Take a subscription out; ``BadInput`` if there is none of this name."""
        if self._programs.pop(name, None) is None:
            raise BadInput(f'subscription "{name}"', "there is none of this name")

    def save(self, folder: Path) -> None:
        """Write the index to a folder, which need not exist."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "version": VERSION,
            "subscriptions": {
                name: [program.expression.steps, program.expression.strict]
                for name, program in self._programs.items()
            },
        }
        (folder / "index.json").write_bytes(msgspec.json.encode(document))

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The index in a folder, which all processes that open it share; ``BadInput`` if none is there.

        It can be added to and removed from; the folder stays as it is until the next ``save``.
        """
        document = msgspec.json.decode((folder / "index.json").read_bytes())
        if document["version"] != VERSION:
            raise BadInput(str(folder), f"written by a newer Polycast (version {document['version']})")
        kept = document["subscriptions"].items()
        return cls.of((name, Expression(_steps(steps), strict)) for name, (steps, strict) in kept)


def _steps(written: list[Any]) -> tuple[Any, ...]:
    return tuple((kind, tuple(detail) if isinstance(detail, list) else detail) for kind, detail in written)
