"""What operators cost that nobody has run: decoding their source, encoding their target, and some extras."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

Edge = tuple[str, str]
Extras = Callable[[Edge], Collection[str]]
"""What an operator does, or is spared, that neither its source nor its target tells alone."""
EACH = 3
"""Measured operators that every source and every target needs, at least, where it has so many."""


class Sampling(NamedTuple):
    """Which operators to measure: those that the model is fitted to, and those that it is checked with."""

    fitted: tuple[Edge, ...]
    checked: tuple[Edge, ...]


class Check(NamedTuple):
    """How far the model is off where it was not fitted.

    ``median`` and ``worst`` are shares of the measured cost; ``r2`` is the share of the variance it explains.
    """

    edges: int
    median: float
    worst: float
    r2: float


def no_extras(edge: Edge) -> Collection[str]:  # noqa: ARG001
    """For operators that only decode and encode."""
    return ()


class EdgeModel(NamedTuple):
    """Decoding costs of the sources, encoding costs of the targets and what extras cost, in CPU seconds.

    Only the sums are determined: what all sources share may as well belong to all targets. ``decode`` begins at 0.
    """

    decode: dict[str, float]
    encode: dict[str, float]
    extra: dict[str, float]
    extras: Extras

    def knows(self, edge: Edge) -> bool:
        """Whether an operator with this source and one with this target were measured."""
        return edge[0] in self.decode and edge[1] in self.encode

    def cost(self, edge: Edge) -> float:
        source, target = edge
        more = sum(self.extra.get(name, 0.0) for name in self.extras(edge))
        return max(0.0, self.decode[source] + self.encode[target] + more)


def sample(
    edges: Sequence[Edge],
    checks: int,
    known: Collection[Edge] = (),
    reluctantly: Sequence[Edge] = (),
    seed: int = 0,
) -> Sampling:
    """Choose few operators that determine the model, and some more to check it.

    Every source and target is met ``EACH`` times where it can be, and all hang together: were there two parts with
    nothing between them, an operator from one to the other could not be told.

    Parameters
    ----------
    checks
        How many to check with, at most.
    known
        Those that are measured in any case.
    reluctantly
        Those that are taken only where an end is met by no other.
    """
    shuffled = list(edges)
    random.Random(seed).shuffle(shuffled)
    met: Counter[tuple[str, str]] = Counter()
    parts = _Parts()
    fitted, rest = [], []
    for edge in (*known, *shuffled):
        ends = ("from", edge[0]), ("to", edge[1])
        if parts.join(*ends) or edge in known or min(met[end] for end in ends) < EACH:
            fitted.append(edge)
            met.update(ends)
        else:
            rest.append(edge)
    fitted += [edge for edge in reluctantly if parts.join(("from", edge[0]), ("to", edge[1]))]
    return Sampling(tuple(dict.fromkeys(fitted)), tuple(rest[:checks]))


def fit(measured: Mapping[Edge, float], extras: Extras = no_extras) -> EdgeModel:
    """The model that is least off, counted in shares of each cost (least squares)."""
    columns = _numbered(column for edge in measured for column in _columns(edge, extras))
    costs = np.array(list(measured.values()))
    weights = 1.0 / np.maximum(costs, 1e-6)
    rows = np.zeros((len(measured), len(columns)))
    for row, edge in enumerate(measured):
        rows[row, [columns[column] for column in _columns(edge, extras)]] = weights[row]
    found = np.linalg.lstsq(rows, costs * weights, rcond=None)[0]
    parts: dict[str, dict[str, float]] = {"from": {}, "to": {}, "extra": {}}
    for (part, name), place in columns.items():
        parts[part][name] = float(found[place])
    least = min(parts["from"].values())
    return EdgeModel(
        {source: cost - least for source, cost in parts["from"].items()},
        {target: cost + least for target, cost in parts["to"].items()},
        parts["extra"],
        extras,
    )


def _columns(edge: Edge, extras: Extras) -> list[tuple[str, str]]:
    return [("from", edge[0]), ("to", edge[1]), *(("extra", name) for name in extras(edge))]


def check(model: EdgeModel, measured: Mapping[Edge, float]) -> Check:
    """Compare the model with operators that it was not fitted to."""
    costs = np.array(list(measured.values()))
    told = np.array([model.cost(edge) for edge in measured])
    off = np.abs(told - costs) / np.maximum(costs, 1e-6)
    variance = float(((costs - costs.mean()) ** 2).sum())
    r2 = 1.0 - float(((told - costs) ** 2).sum()) / variance if variance else 1.0
    return Check(len(costs), float(np.median(off)), float(off.max()), r2)


def _numbered(columns: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {column: number for number, column in enumerate(dict.fromkeys(columns))}


class _Parts:
    """Which ends hang together so far (union-find)."""

    def __init__(self) -> None:
        self._above: dict[tuple[str, str], tuple[str, str]] = {}

    def join(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Join two ends; whether they were apart before."""
        first, second = self._top(one), self._top(other)
        self._above[first] = second
        return first != second

    def _top(self, end: tuple[str, str]) -> tuple[str, str]:
        while (above := self._above.setdefault(end, end)) != end:
            end = above
        return end
