"""The servers that streams of values reach: how fast each works, what it wants, how far apart they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polycast.errors import BadInput

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

SOURCE = 0
MOST = 1e30  # the largest number that is taken, lest sums of products overflow


@dataclass(frozen=True, eq=False)
class Servers:
    """`n` servers, the first of them the source, and `m` objects whose values the source changes.

    Parameters
    ----------
    filter_time, transmit_time : (n,)
        Seconds to check one message for one child (t^p), and to send it there (t^c).
    rates : (n, m)
        Messages a second that a server wants of each object (r_ix); 0 where it does not want the object. The
        source's own rates burden the source, which has to filter them, but no loss of the source is counted.
    delays : (n, n)
        Seconds from the server of the row to the server of the column, d(n_i, n_j).
    """

    filter_time: Floats
    transmit_time: Floats
    rates: Floats
    delays: Floats
    names: Sequence[str] = ()
    objects: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("filter_time", "transmit_time", "rates", "delays"):
            array: npt.NDArray[Any] = np.ascontiguousarray(getattr(self, name), np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        _check_shapes(self)
        names = self.names or ("s", *(f"n{i}" for i in range(1, len(self))))
        objects = self.objects or tuple(f"o{x + 1}" for x in range(self.rates.shape[1]))
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "objects", tuple(objects))
        _check(self)

    def __len__(self) -> int:
        return len(self.filter_time)

    @cached_property
    def wanted(self) -> Flags:
        """Which server wants which object (O_i); the source wants none."""
        wanted = self.rates > 0
        wanted[SOURCE] = False
        return wanted

    @cached_property
    def shares(self) -> Floats:
        """What one second of delay of an object adds to a server's loss: r_ix / |O_i|."""
        counts = np.maximum(self.wanted.sum(axis=1, keepdims=True), 1)
        return np.asarray(np.where(self.wanted, self.rates, 0.0) / counts, np.float64)

    @cached_property
    def weights(self) -> Floats:
        """What one second of delay of everything adds to a server's loss (u_i)."""
        totals = np.where(self.wanted, self.rates, 0.0).sum(axis=1)
        return np.asarray(totals / np.maximum(self.wanted.sum(axis=1), 1), np.float64)

    @cached_property
    def arriving(self) -> Floats:
        """The delays by receiver: the row of a server holds the delay from every other."""
        if np.array_equal(self.delays, self.delays.T):
            return self.delays
        return np.ascontiguousarray(self.delays.T)


def _check_shapes(servers: Servers) -> None:
    count = len(np.atleast_1d(servers.filter_time))
    if not count:
        raise BadInput("servers", "there is no server; the first is the source")
    expected = {
        "filter_time": (count,),
        "transmit_time": (count,),
        "rates": (count, servers.rates.shape[-1] if servers.rates.ndim else 0),
        "delays": (count, count),
    }
    for name, shape in expected.items():
        actual = getattr(servers, name).shape
        if actual != shape:
            raise BadInput(name, f"its shape is {actual}, and {shape} is needed")


def _check(servers: Servers) -> None:
    _check_names("servers", servers.names, len(servers))
    _check_names("objects", servers.objects, servers.rates.shape[1])
    _check_numbers(servers.filter_time, lambda i: f"servers[{i}].filter_time")
    _check_numbers(servers.transmit_time, lambda i: f"servers[{i}].transmit_time")
    _check_numbers(servers.rates, lambda i, x: f"servers[{i}].rates.{servers.objects[x]}")
    _check_numbers(servers.delays, lambda i, j: f"delays[{i}][{j}]")


def _check_names(what: str, names: Sequence[str], count: int) -> None:
    if len(names) != count:
        raise BadInput(what, f"{len(names)} names for {count} {what}")
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            raise BadInput(f"{what}[{i}].name", f'"{name}" stands twice')
        seen.add(name)


def _check_numbers(values: Floats, where: Callable[..., str]) -> None:
    for place in np.argwhere(~((values >= 0) & (values <= MOST)))[:1]:
        value = values[tuple(place)]
        why = f"is more than {MOST:g}" if MOST < value < np.inf else "is not a finite number of 0 or more"
        raise BadInput(where(*place), f"{value} {why}")
