"""The content space, shared out among rendezvous points: each keeps the subscriptions of its cells and meets the
publications there (CCD, section 2).

A publication belongs to one cell, a subscription to all that its region touches, so that the rendezvous point of a
publication knows everybody who may want it. Cells that have too much to do are cut in two; halves that have little
are united again.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polycast.errors import BadInput
from polycast.model.region import Region
from polycast.overlay.cells import Axis, Cell, Cut
from polycast.overlay.tapestry import Tapestry, key_of

# Publications that a cell remembers, to know where to cut.
REMEMBERED = 256


@dataclass(frozen=True)
class Limits:
    """How much a cell may have to do between two looks at the load.

    Parameters
    ----------
    publications, subscriptions
        A cell that has more of either is cut.
    slack
        Halves are united if together they have less than this share of both.
    """

    publications: int = 1000
    subscriptions: int = 10_000
    slack: float = 0.5

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("publications", self.publications >= 1, "1 or more"),
            ("subscriptions", self.subscriptions >= 1, "1 or more"),
            ("slack", 0 <= self.slack <= 1, "a share from 0 to 1"),
        ):
            if not right:
                raise BadInput(name, f"{getattr(self, name)!r} is not {wanted}")


@dataclass(frozen=True)
class Change:
    """Cells that are no more, and those in their place with the subscriptions that they must be handed."""

    given_up: tuple[str, ...]
    taken_over: Mapping[str, tuple[str, ...]]


@dataclass
class _Load:
    subscriptions: set[str] = field(default_factory=set)
    publications: int = 0
    remembered: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))


class ContentSpace:
    """Who knows of which subscriptions, and where a publication meets them.

    Parameters
    ----------
    axes
        The attributes that cells may be cut along. Events may have others, and may lack these.
    """

    def __init__(self, axes: Sequence[Axis], limits: Limits | None = None) -> None:
        self.axes = tuple(axes)
        self.limits = limits or Limits()
        self._whole = Cell()
        self._loads = {"": _Load()}
        self._regions: dict[str, Region] = {}

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of all cells, in order."""
        return tuple(cell.name for cell in self._whole.whole())

    def cell_of(self, attributes: Mapping[str, Any]) -> str:
        """The cell that a publication with these attributes belongs to."""
        return self._whole.at(attributes).name

    def cells_of(self, region: Region) -> tuple[str, ...]:
        """The cells that a subscription with this region must be known in."""
        return tuple(cell.name for cell in self._whole.touched_by(region))

    def subscribe(self, name: str, region: Region) -> tuple[str, ...]:
        """Take in a subscription, or its new region; returns the cells that it is known in now."""
        self.unsubscribe(name)
        self._regions[name] = region
        cells = self.cells_of(region)
        for cell in cells:
            self._loads[cell].subscriptions.add(name)
        return cells

    def unsubscribe(self, name: str) -> None:
        """Forget a subscription; one that nobody knows is no fault."""
        if name in self._regions:
            for cell in self.cells_of(self._regions.pop(name)):
                self._loads[cell].subscriptions.discard(name)

    def publish(self, attributes: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
        """The cell of a publication, and the subscriptions known there: all that may match are among them."""
        cell = self.cell_of(attributes)
        load = self._loads[cell]
        load.publications += 1
        load.remembered.append(attributes)
        return cell, frozenset(load.subscriptions)

    def rebalance(self) -> list[Change]:
        """Cut the cells that have too much to do, unite those that have little, and begin to count anew."""
        changes = [change for cell in list(self._whole.whole()) if (change := self._relieve(cell))]
        cut = {name for change in changes for name in change.taken_over}
        changes += self._unite_idle(self._whole, cut)
        for load in self._loads.values():
            load.publications = 0
        return changes

    def _relieve(self, cell: Cell) -> Change | None:
        load, limits = self._loads[cell.name], self.limits
        if load.publications <= limits.publications and len(load.subscriptions) <= limits.subscriptions:
            return None
        cuts = [cut for axis in self.axes if (cut := _middle(axis, load.remembered))]
        best = min(cuts, key=lambda cut: self._burden(cut, load), default=None)
        if best is None or self._burden(best, load) >= 1:
            return None
        cell.divide(best)
        del self._loads[cell.name]
        for half in cell.halves:
            self._loads[half.name] = self._half_of(half, best, load)
        return self._change((cell,), cell.halves)

    def _half_of(self, half: Cell, cut: Cut, load: _Load) -> _Load:
        above = half.name.endswith("1")
        known = {name for name in load.subscriptions if half in self._whole.touched_by(self._regions[name])}
        events = [event for event in load.remembered if cut.is_above(event) == above]
        share = len(events) / max(1, len(load.remembered))
        return _Load(known, round(load.publications * share), deque(events, REMEMBERED))

    def _burden(self, cut: Cut, load: _Load) -> float:
        """The work of the busier half, as a share of that of the whole: its publications × its subscriptions."""
        above = sum(map(cut.is_above, load.remembered)) / len(load.remembered)
        parts = [[cut.parts(box) for box in self._regions[name].boxes] for name in sorted(load.subscriptions)]
        counts = [sum(any(box[side] is not None for box in boxes) for boxes in parts) for side in (0, 1)]
        known = [(count + 1) / (len(parts) + 1) for count in counts]
        return max((1 - above) * known[0], above * known[1])

    def _unite_idle(self, cell: Cell, kept: set[str]) -> list[Change]:
        changes = [change for half in cell.halves for change in self._unite_idle(half, kept)]
        halves = cell.halves
        if not halves or any(half.halves or half.name in kept for half in halves) or not self._are_idle(halves):
            return changes
        loads = [self._loads.pop(half.name) for half in halves]
        cell.unite()
        self._loads[cell.name] = _Load(
            loads[0].subscriptions | loads[1].subscriptions,
            loads[0].publications + loads[1].publications,
            deque([*loads[0].remembered, *loads[1].remembered], REMEMBERED),
        )
        return [*changes, self._change(halves, (cell,))]

    def _are_idle(self, halves: Sequence[Cell]) -> bool:
        loads = [self._loads[half.name] for half in halves]
        slack = self.limits.slack
        known = len(set().union(*(load.subscriptions for load in loads)))
        met = sum(load.publications for load in loads)
        return met < slack * self.limits.publications and known < slack * self.limits.subscriptions

    def _change(self, given_up: Sequence[Cell], taken_over: Sequence[Cell]) -> Change:
        return Change(
            tuple(cell.name for cell in given_up),
            {cell.name: tuple(sorted(self._loads[cell.name].subscriptions)) for cell in taken_over},
        )


def rendezvous_point(cell: str, overlay: Tapestry) -> int:
    """The broker that owns a cell: the root of its name, which every broker finds by routing."""
    return overlay.root(np.uint64(key_of(f"cell {cell}")))


def _middle(axis: Axis, events: Sequence[Mapping[str, Any]] | deque[Mapping[str, Any]]) -> Cut | None:
    """The cut that parts remembered events most evenly; None if they all say the same."""
    read = [axis.read(event) for event in events]
    known = sorted(value for value in read if value is not None)
    candidates = [known[at] for at in range(len(known)) if at == 0 or known[at] != known[at - 1]]
    if len(known) == len(read):
        candidates = candidates[1:]  # at the least of all, nothing would lie below
    if not candidates:
        return None
    below = [len(read) - len(known) + known.index(at) for at in candidates]
    even = min(range(len(candidates)), key=lambda i: abs(2 * below[i] - len(read)))
    return Cut(axis, candidates[even])
