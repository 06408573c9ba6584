"""Formats, the operators between them, and the content adaptation graph that both form (CCD, section 2.1)."""

import heapq
import math
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import NamedTuple, TypeVar

import msgspec

from polycast.errors import BadInput

VERSION = 1


class Format(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One form that a publication can take.

    Parameters
    ----------
    size
        What sending the content over one link costs in this form, in megabytes; None if it cannot be sent, only
        made and used on the spot.
    media_type
        With its parameters, as in ``video/mp4; codecs="avc1.64001F, mp4a.40.2"``.
    bitrate
        Bits per second, picture and sound together.
    dpi
        How finely a page is drawn, where neither width nor height is given.
    quality
        What the form keeps of the original, from 0 to 1.
    per_unit
        By how many megabytes it grows with every further second or page; see ``Measured``.
    """

    name: str
    size: float | None
    media_type: str | None = None
    width: int | None = None
    height: int | None = None
    bitrate: float | None = None
    framerate: float | None = None
    dpi: float | None = None
    language: str | None = None
    quality: float | None = None
    per_unit: float | None = None


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A conversion from one format to another, and what running it once costs, in CPU seconds.

    ``per_unit`` is what every further second or page of the content adds; see ``Measured``.
    """

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    cost: float
    per_unit: float | None = None


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the sizes and costs of a graph were measured on: so many units of content, and in which way.

    Parameters
    ----------
    unit
        ``second`` of media or ``page``; None where the samples had nothing in common that could be counted.
    """

    unit: str | None
    amount: float
    how: str = ""


class Chain(NamedTuple):
    """Operators that follow one another, and what they cost together. No operators: there is nothing to do."""

    cost: float
    operators: tuple[Operator, ...]


class ContentGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The formats of a publication and the operators that lead from one to another."""

    formats: tuple[Format, ...]
    operators: tuple[Operator, ...]
    measured: Measured | None = None
    version: int = VERSION

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of every format, by name."""
        return {format.name: position for position, format in enumerate(self.formats)}

    @cached_property
    def by_source(self) -> dict[str, tuple[Operator, ...]]:
        """The operators that start at a format."""
        leaving: dict[str, list[Operator]] = {format.name: [] for format in self.formats}
        for operator in self.operators:
            leaving[operator.source].append(operator)
        return {name: tuple(operators) for name, operators in leaving.items()}

    def __getitem__(self, name: str) -> Format:
        return self.formats[self.index[name]]

    def __contains__(self, name: object) -> bool:
        return name in self.index

    def cheapest_chains(self, sources: Iterable[str]) -> dict[str, Chain]:
        """The cheapest way from any of the sources to every format that they lead to (Dijkstra)."""
        reached: dict[str, Chain] = {}
        frontier: list[tuple[float, int, str, tuple[Operator, ...]]] = [
            (0.0, position, source, ()) for position, source in enumerate(sources)
        ]
        heapq.heapify(frontier)
        pushed = len(frontier)
        while frontier:
            cost, _, name, operators = heapq.heappop(frontier)
            if name in reached:
                continue
            reached[name] = Chain(cost, operators)
            for operator in self.by_source[name]:
                if operator.target not in reached:
                    pushed += 1
                    step = (cost + operator.cost, pushed, operator.target, (*operators, operator))
                    heapq.heappush(frontier, step)
        return reached

    def cheapest_chain(self, sources: Collection[str], target: str) -> Chain | None:
        """The cheapest way from any of the sources to one format, or None where there is none."""
        return self.cheapest_chains(sources).get(target)

    def for_content(self, form: str, size: float) -> "ContentGraph":
        """The graph with the sizes and costs to expect for content that has so many megabytes in one of the forms.

        What was measured per second or per page grows by the units that the content seems to have; all else grows
        as the content does.
        """
        known = self[form]
        if not known.size:
            return self
        factor = size / known.size
        more = (size - known.size) / known.per_unit if self.measured and known.per_unit else None
        return msgspec.structs.replace(
            self,
            formats=tuple(
                msgspec.structs.replace(format, size=_grown(format.size, format.per_unit, factor, more))
                for format in self.formats
            ),
            operators=tuple(
                msgspec.structs.replace(operator, cost=_grown(operator.cost, operator.per_unit, factor, more))
                for operator in self.operators
            ),
        )


T = TypeVar("T", float, float | None)


def _grown(figure: T, per_unit: float | None, factor: float, more: float | None) -> T:
    """A size or cost of the sample, for content of so many units more, or else so many times as large."""
    if figure is None:
        return None
    if more is None or per_unit is None:
        return figure * factor
    return max(0.0, figure + per_unit * more)


def _check(graph: ContentGraph) -> None:
    if graph.version != VERSION:
        raise BadInput("version", f"{graph.version} is not a version that is known here; this is {VERSION}")
    names: set[str] = set()
    for position, format in enumerate(graph.formats):
        where = f"formats[{position}]"
        if not format.name:
            raise BadInput(where, "a format needs a name")
        if format.name in names:
            raise BadInput(where, f'a second format named "{format.name}"')
        if format.size is not None and not 0 <= format.size < math.inf:
            raise BadInput(f"{where}.size", f"{format.size} is not a finite size of 0 or more")
        names.add(format.name)
    edges: set[tuple[str, str]] = set()
    for position, operator in enumerate(graph.operators):
        where = f"operators[{position}]"
        for end in (operator.source, operator.target):
            if end not in names:
                raise BadInput(where, f'no format is named "{end}"')
        if operator.source == operator.target:
            raise BadInput(where, f'an operator from "{operator.source}" to itself')
        if (operator.source, operator.target) in edges:
            raise BadInput(where, f'a second operator from "{operator.source}" to "{operator.target}"')
        if not 0 <= operator.cost < math.inf:
            raise BadInput(f"{where}.cost", f"{operator.cost} is not a finite cost of 0 or more")
        edges.add((operator.source, operator.target))
