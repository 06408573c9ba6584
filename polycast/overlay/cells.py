"""Cells of the content space: how it is cut in two, again and again, and which pieces something lies in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polycast.model.region import FREE, Box, Kind, Region, Span, Values
from polycast.model.scalar import instant, lookup, number_of, scalar, to_string

Reading = str | int | float | tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """An attribute that cells are cut along (or a path into the payload), and how its values are read."""

    name: str
    kind: Kind = "text"

    def read(self, attributes: Mapping[str, Any]) -> Reading | None:
        """What an event says here; None if it says nothing, or nothing of this kind."""
        value = scalar(lookup(attributes, tuple(self.name.split("."))))
        if value is None or self.kind == "text":
            return None if value is None else to_string(value)
        if self.kind == "instant":
            return instant(value) if isinstance(value, str) else None
        return number_of(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Cut:
    """Parts events in two: what an axis reads as ``at`` or more lies above, and all else below."""

    axis: Axis
    at: Reading

    def is_above(self, attributes: Mapping[str, Any]) -> bool:
        read = self.axis.read(attributes)
        return read is not None and read >= self.at  # type: ignore[operator]

    def parts(self, box: Box) -> tuple[Box | None, Box | None]:
        """What of a box lies below and above, None where nothing does: perhaps too much, never too little."""
        values = box.get(self.axis.name, FREE)
        return _with(box, self.axis.name, self._below(values)), _with(box, self.axis.name, self._above(values))

    def _above(self, values: Values) -> Values:
        return values.common(Values((Span(self.axis.kind, self.at, None),)))

    def _below(self, values: Values) -> Values:
        if values.spans is None:
            return values
        return Values(tuple(span for span in values.spans if not self._is_all_above(span)), values.absent)

    def _is_all_above(self, span: Span) -> bool:
        return span.kind == self.axis.kind and span.low is not None and bool(span.low >= self.at)  # type: ignore[operator]


def _with(box: Box, name: str, values: Values) -> Box | None:
    return None if values.is_empty else {**box, name: values}


class Cell:
    """A piece of the content space: whole, or cut into one below and one above.

    The name of a cell is the way to it from the whole space, a 0 for below and a 1 for above; it stays what it is
    whatever happens to others.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.cut: Cut | None = None
        self.halves: tuple[Cell, Cell] | tuple[()] = ()

    def divide(self, cut: Cut) -> None:
        self.cut = cut
        self.halves = Cell(f"{self.name}0"), Cell(f"{self.name}1")

    def unite(self) -> None:
        self.cut, self.halves = None, ()

    def at(self, attributes: Mapping[str, Any]) -> "Cell":
        """The one whole cell that an event belongs to."""
        cell = self
        while cell.cut is not None:
            cell = cell.halves[cell.cut.is_above(attributes)]
        return cell

    def touched_by(self, region: Region) -> "list[Cell]":
        """The whole cells that may hold an event of a region, each once."""
        found = {cell.name: cell for box in region.boxes for cell in self._touched(box)}
        return [found[name] for name in sorted(found)]

    def whole(self) -> "Iterator[Cell]":
        """All cells that are not cut."""
        if not self.halves:
            yield self
        for half in self.halves:
            yield from half.whole()

    def _touched(self, box: Box) -> "Iterator[Cell]":
        if self.cut is None:
            yield self
            return
        for half, part in zip(self.halves, self.cut.parts(box), strict=True):
            if part is not None:
                yield from half._touched(part)
