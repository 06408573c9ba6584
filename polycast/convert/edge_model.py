"""What operators cost that nobody has run: the decoding of their source and the encoding of their target."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

Edge = tuple[str, str]
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


class EdgeModel(NamedTuple):
    """Decoding costs of the sources and encoding costs of the targets, in CPU seconds.

    Only the sums are determined: what all sources share may as well belong to all targets. ``decode`` begins at 0.
    """

    decode: dict[str, float]
    encode: dict[str, float]

    def knows(self, edge: Edge) -> bool:
        """Whether an operator with this source and one with this target were measured."""
        return edge[0] in self.decode and edge[1] in self.encode

    def cost(self, edge: Edge) -> float:
        source, target = edge
        return max(0.0, self.decode[source] + self.encode[target])


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


def fit(measured: Mapping[Edge, float]) -> EdgeModel:
    """The model that is least off, counted in shares of each cost (least squares)."""
    sources, targets = _numbered(source for source, _ in measured), _numbered(target for _, target in measured)
    costs = np.array(list(measured.values()))
    weights = 1.0 / np.maximum(costs, 1e-6)
    rows = np.zeros((len(measured), len(sources) + len(targets)))
    for row, (source, target) in enumerate(measured):
        rows[row, sources[source]] = rows[row, len(sources) + targets[target]] = weights[row]
    found = np.linalg.lstsq(rows, costs * weights, rcond=None)[0]
    least = float(found[: len(sources)].min())
    return EdgeModel(
        {source: float(found[place]) - least for source, place in sources.items()},
        {target: float(found[len(sources) + place]) + least for target, place in targets.items()},
    )


def check(model: EdgeModel, measured: Mapping[Edge, float]) -> Check:
    """Compare the model with operators that it was not fitted to."""
    costs = np.array(list(measured.values()))
    told = np.array([model.cost(edge) for edge in measured])
    off = np.abs(told - costs) / np.maximum(costs, 1e-6)
    variance = float(((costs - costs.mean()) ** 2).sum())
    r2 = 1.0 - float(((told - costs) ** 2).sum()) / variance if variance else 1.0
    return Check(len(costs), float(np.median(off)), float(off.max()), r2)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


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
