"""A network of brokers as it lies: links both ways with a cost, and what computing costs at each broker."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polycast.errors import BadInput
from polycast.overlay.shortest_paths import Floats, Indices, Numbers, shortest_paths


@dataclass(frozen=True, eq=False)
class Topology:
    """`n` brokers and `e` links that carry both ways.

    Parameters
    ----------
    ends : (e, 2)
        The two brokers that each link joins.
    link_cost : (e,)
        What a unit costs on each link.
    compute_cost : (n,)
        Factor of every conversion at a broker; 1 everywhere if left out.
    place : (n, 2)
        Where the brokers lie on the plane, if anywhere.
    """

    ends: Indices
    link_cost: Floats
    compute_cost: Floats
    place: Floats | None = None
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, dtype in (("ends", np.int32), ("link_cost", np.float64), ("compute_cost", np.float64)):
            array: npt.NDArray[Any] = np.ascontiguousarray(getattr(self, name), dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        names = self.names or tuple(f"b{i + 1}" for i in range(len(self)))
        object.__setattr__(self, "names", tuple(names))
        _check(self)

    def __len__(self) -> int:
        return len(self.compute_cost)

    @cached_property
    def degrees(self) -> Indices:
        """How many links meet at each broker."""
        return np.bincount(self.ends.ravel(), minlength=len(self)).astype(np.int32)

    def distances(self, sources: Numbers | None = None) -> Floats:
        """What the cheapest way costs from the sources (every broker, if left out) to every broker.

        One row to a source; infinite where there is no way.
        """
        start = np.concatenate(([0], np.cumsum(self.degrees))).astype(np.int32)
        tail = self.ends.T.ravel()
        by_tail = np.argsort(tail, kind="stable")
        head = np.ascontiguousarray(self.ends[:, ::-1].T.ravel()[by_tail])
        cost = np.tile(self.link_cost, 2)[by_tail]
        chosen = np.arange(len(self)) if sources is None else np.asarray(sources)
        return shortest_paths(start, head, cost, chosen.astype(np.int32))

    @cached_property
    def connected(self) -> bool:
        """Whether there is a way from every broker to every other."""
        return bool(np.isfinite(self.distances([0])).all())

    def replace(self, **changes: Any) -> "Topology":
        """The same network with some fields changed."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Topology(**(fields | changes))


def lengths(place: Floats, ends: Indices) -> Floats:
    """How long links are on the plane."""
    apart: Floats = np.linalg.norm(place[ends[:, 0]] - place[ends[:, 1]], axis=1)
    return apart


def _check(topology: Topology) -> None:
    n, e = len(topology), len(topology.ends)
    if n == 0:
        raise BadInput("brokers", "there is no broker")
    if topology.ends.shape != (e, 2) or topology.link_cost.shape != (e,):
        raise BadInput("ends", f"{topology.ends.shape} ends and {topology.link_cost.shape} costs of links")
    if topology.place is not None and topology.place.shape != (n, 2):
        raise BadInput("place", f"{topology.place.shape} coordinates for {n} brokers")
    if len(set(topology.names)) != n:
        raise BadInput("names", f"{len(set(topology.names))} different names for {n} brokers")
    outside = np.flatnonzero(((topology.ends < 0) | (topology.ends >= n)).any(axis=1))
    if len(outside):
        raise BadInput(f"ends[{outside[0]}]", "an end that is no broker")
    for name in ("link_cost", "compute_cost"):
        values = getattr(topology, name)
        wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
        if len(wrong):
            raise BadInput(f"{name}[{wrong[0]}]", f"{values[wrong[0]]} is not a finite cost of 0 or more")
