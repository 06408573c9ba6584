"""A region of the content space: where the events lie that a filter may accept. Routing works on regions.

The content space has an axis for every attribute (and for every path into the payload, as ``data.location.lat``).
A region is a union of boxes, and a box says of some axes which values it holds there; the other axes are free.
Regions are *safe*: whatever is done to them, they may become larger than the truth and never smaller.

>>> maps = Region.of({"type": prefix("map."), "level": between(3, None)})
>>> maps.contains({"type": "map.flood", "level": "4"})
True
>>> maps.intersects(Region.of({"level": between(0, 2)}))
False
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from polycast.model.scalar import Value, instant, lookup, number_of, scalar, to_string

Kind = Literal["text", "number", "instant"]
End = str | int | float | tuple[int, int] | None

# Beyond these a region grows instead of becoming more complicated.
MOST_BOXES, MOST_AXES, MOST_SPANS = 8, 16, 32


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """Neighbouring values, both ends included; an end that is None is open.

    Attributes
    ----------
    kind
        How values are read before they are compared: as texts in the order of their code points, as numbers, or as
        instants (``model.scalar.instant``). A value that cannot be read so does not lie in the span.
    """

    kind: Kind
    low: End = None
    high: End = None

    def contains(self, value: Value) -> bool:
        read = _read(self.kind, value)
        return read is not None and _ordered(self.low, read) and _ordered(read, self.high)

    def common(self, other: "Span") -> "Span | None":
        """A span that holds every value that lies in both; None if none does."""
        if self.kind == other.kind:
            low = self.low if other.low is None or not _ordered(self.low, other.low) else other.low
            high = self.high if other.high is None or not _ordered(other.high, self.high) else other.high
            return Span(self.kind, low, high) if _ordered(low, high) else None
        text, rest = (self, other) if self.kind == "text" else (other, self)
        if text.kind != "text":
            return None  # no text spells both a number and an instant
        if text.low is not None and text.low == text.high:
            return text if rest._spelt(text.low) else None
        return rest if text._may_spell(rest) else None

    def _spelt(self, text: End) -> bool:
        """Whether a value with this text lies in the span."""
        values = (text, text == "true") if text in ("true", "false") else (text,)
        return any(self.contains(value) for value in values)  # type: ignore[arg-type]

    def _may_spell(self, rest: "Span") -> bool:
        """Whether a value in this span of texts may lie in one of another kind, which begin with + - 0 to 9."""
        if self.common(_SPELLING) is not None:
            return True
        return any(self.contains(value) and rest.contains(value) for value in (True, False))

    def hull(self, other: "Span") -> "Span":
        """The smallest span of the same kind around both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Span(self.kind, low, high)


_SPELLING = Span("text", "+", ":")


class Values(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a box holds on one axis: the values of some spans, and perhaps the events without the attribute.

    Attributes
    ----------
    spans
        Sorted by kind and low end, apart within a kind; None for every value, even one that cannot be read.
    absent
        Whether events without the attribute lie in the box.
    """

    spans: tuple[Span, ...] | None
    absent: bool = False

    def contains(self, value: Any) -> bool:
        if value is None:
            return self.absent
        if self.spans is None:
            return True
        known = scalar(value)
        return known is not None and any(span.contains(known) for span in self.spans)

    def common(self, other: "Values") -> "Values":
        """What lies in both."""
        absent = self.absent and other.absent
        if self.spans is None or other.spans is None:
            return Values(other.spans if self.spans is None else self.spans, absent)
        met = [span.common(against) for span in self.spans for against in other.spans]
        return Values(_apart(span for span in met if span is not None), absent)

    def together(self, other: "Values") -> "Values":
        """What lies in either."""
        absent = self.absent or other.absent
        if self.spans is None or other.spans is None:
            return Values(None, absent)
        return Values(_apart((*self.spans, *other.spans)), absent)

    @property
    def is_empty(self) -> bool:
        return not self.absent and self.spans is not None and not self.spans

    @property
    def is_free(self) -> bool:
        return self.absent and self.spans is None


Box = Mapping[str, Values]
"""What some axes hold; the others are free. No box in a region has an axis that holds nothing, or everything."""


class Region(msgspec.Struct, frozen=True):
    """A union of boxes: no box at all holds nothing, and a box without axes holds everything."""

    boxes: tuple[Box, ...]

    @classmethod
    def of(cls, axes: Mapping[str, Values]) -> "Region":
        """The region of one box."""
        if any(values.is_empty for values in axes.values()):
            return NOTHING
        kept = [(name, values) for name, values in axes.items() if not values.is_free]
        return cls((dict(kept[:MOST_AXES]),))

    def contains(self, attributes: Mapping[str, Any]) -> bool:
        """Whether an event with these attributes (its payload as ``data``) lies in the region."""
        return any(
            all(values.contains(lookup(attributes, tuple(name.split(".")))) for name, values in box.items())
            for box in self.boxes
        )

    def intersects(self, other: "Region") -> bool:
        """Whether an event may lie in both."""
        return any(_meet(box, against) for box in self.boxes for against in other.boxes)

    def intersection(self, other: "Region") -> "Region":
        """A region that holds every event that lies in both."""
        met = (_common(box, against) for box in self.boxes for against in other.boxes)
        return Region(_few([box for box in met if box is not None]))

    def union(self, other: "Region") -> "Region":
        """A region that holds every event that lies in either."""
        return Region(_few([*self.boxes, *other.boxes]))

    def hull(self, name: str) -> Values:
        """What the region holds on one axis, over all its boxes."""
        found = Values(())
        for box in self.boxes:
            found = found.together(box.get(name, FREE))
        return found


FREE = Values(None, absent=True)
PRESENT = Values(None)
ABSENT = Values((), absent=True)
NOTHING = Region(())
EVERYTHING = Region(({},))


def between(low: float | None, high: float | None) -> Values:
    """The numbers from ``low`` to ``high``, and the texts that spell them."""
    return Values((Span("number", low, high),))


def one_of(texts: Iterable[str]) -> Values:
    """The values whose text is one of these."""
    return Values(_apart(Span("text", text, text) for text in texts))


def prefix(text: str) -> Values:
    """The values whose text begins so."""
    return Values((Span("text", text, _after(text)),))


def _after(prefix: str) -> str | None:
    """The first text behind all that begin so; None if there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if 0xD800 <= following <= 0xDFFF else following)


def _read(kind: Kind, value: Value) -> End:
    if kind == "text":
        return to_string(value)
    if kind == "instant":
        return instant(value) if isinstance(value, str) else None
    return number_of(value) if isinstance(value, str) else value


def _ordered(low: End, high: End) -> bool:
    """Whether one end does not lie behind another of the same kind; open ends are as far out as can be."""
    return low is None or high is None or bool(low <= high)  # type: ignore[operator]


def _apart(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same values in spans that are sorted and do not touch, and in not too many of them."""
    found: list[Span] = []
    for span in sorted(spans, key=_place):
        if found and found[-1].kind == span.kind and _ordered(span.low, found[-1].high):
            found[-1] = found[-1].hull(span)
        else:
            found.append(span)
    while len(found) > MOST_SPANS:
        found = _halved(found)
    return tuple(found)


def _place(span: Span) -> tuple[Kind, bool, Any]:
    return span.kind, span.low is not None, span.low


def _halved(spans: list[Span]) -> list[Span]:
    """Join neighbours, two and two, within a kind."""
    found: list[Span] = []
    joined = False
    for span in spans:
        if found and not joined and found[-1].kind == span.kind:
            found[-1] = found[-1].hull(span)
            joined = True
        else:
            found.append(span)
            joined = False
    return found


def _meet(box: Box, other: Box) -> bool:
    small, large = (box, other) if len(box) <= len(other) else (other, box)
    return all(not values.common(large[name]).is_empty for name, values in small.items() if name in large)


def _common(box: Box, other: Box) -> Box | None:
    """A box around what lies in both; None if nothing does."""
    found = dict(box)
    for name, values in other.items():
        if name in found:
            found[name] = found[name].common(values)
            if found[name].is_empty:
                return None
        elif len(found) < MOST_AXES:
            found[name] = values
    return found


def _around(box: Box, other: Box) -> Box:
    """A box around both: what is free in one is free in it."""
    shared = {name: values.together(other[name]) for name, values in box.items() if name in other}
    return {name: values for name, values in shared.items() if not values.is_free}


def _few(boxes: list[Box]) -> tuple[Box, ...]:
    """Join what can be joined without loss, and go on joining while there are too many."""
    found: list[Box] = []
    for box in boxes:
        place = next((place for place, other in enumerate(found) if _join_exactly(box, other)), None)
        if place is None:
            found.append(box)
        else:
            found[place] = _around(found[place], box)
    while len(found) > MOST_BOXES:
        last = found.pop()
        place = min(range(len(found)), key=lambda place: _differences(last, found[place]))
        found[place] = _around(found[place], last)
    return tuple(found)


def _join_exactly(box: Box, other: Box) -> bool:
    """Whether the box around both holds nothing else: one holds the other, or they differ on one axis only."""
    return box.items() <= other.items() or box.items() >= other.items() or _differences(box, other) <= 1


def _differences(box: Box, other: Box) -> int:
    """On how many axes two boxes differ."""
    return sum(1 for name in box.keys() | other.keys() if box.get(name) != other.get(name))
