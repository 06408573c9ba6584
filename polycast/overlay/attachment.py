"""Users, brokers and channels with what everything costs, and an attachment of each user to one broker."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from polycast.errors import BadInput
from polycast.kernel import kernel

Floats = npt.NDArray[np.float64]
Costs = npt.NDArray[Any]  # float64, or float32 where a million users would not fit otherwise
Indices = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])

PER_PUBLISHER, SHARED = "per-publisher", "shared"
CORES = (PER_PUBLISHER, SHARED)

# A broker is over its capacity when the share of its load that is too much is more than rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Overlay:
    """`u` users and `b` brokers who exchange messages on `t` channels.

    Parameters
    ----------
    publishes : (u, t)
        The rate at which a user publishes on a channel (the histogram of its generating function, g).
    interest : (u, t)
        Whether a user's subscription includes a channel (s).
    access_cost : (u, b)
        What a unit of traffic costs between a user and a broker; infinite where the user cannot use the broker.
        Kept in single precision if it is given so.
    core_cost : (b, b)
        What a unit of traffic costs between two brokers; symmetric.
    capacity : (b,)
        The most traffic that the users of a broker may send and receive; infinite where there is no limit.
    """

    publishes: Floats
    interest: Flags
    access_cost: Costs
    core_cost: Floats
    capacity: Floats
    user_names: Sequence[str] = ()
    broker_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        single = getattr(self.access_cost, "dtype", None) == np.float32
        for name, dtype in (
            ("publishes", np.float64),
            ("interest", np.bool_),
            ("access_cost", np.float32 if single else np.float64),
            ("core_cost", np.float64),
            ("capacity", np.float64),
        ):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), dtype)))
        _check(self)

    @property
    def users(self) -> int:
        return len(self.publishes)

    @property
    def brokers(self) -> int:
        return len(self.capacity)

    @property
    def channels(self) -> int:
        return int(self.publishes.shape[1])

    @cached_property
    def rate(self) -> Floats:
        """What all users together publish on each channel."""
        return frozen(self.publishes.sum(axis=0))

    @cached_property
    def demand(self) -> Floats:
        """The traffic on each user's access link: all it publishes (out), and all of others that it wants (in)."""
        return frozen(demand_of(self.publishes, self.interest, self.rate))

    @cached_property
    def room(self) -> Floats:
        """What a broker can take: its capacity, and a little more for rounding."""
        return frozen(self.capacity * (1 + ROUNDING))

    def user_name(self, user: int) -> str:
        return self.user_names[user] if self.user_names else f"u{user + 1}"

    def broker_name(self, broker: int) -> str:
        return self.broker_names[broker] if self.broker_names else f"b{broker + 1}"

    def wanted_only(self) -> "Overlay":
        """The same overlay without messages that nobody but their publisher wants, as the paper allows (IV.B)."""
        others = self.interest.sum(axis=0) - self.interest
        return replace(self, publishes=np.where(others > 0, self.publishes, 0.0))

    def detour(self) -> tuple[int, int, int] | None:
        """Brokers a, via, b where the way from a to b over a third is cheaper than the link; None in a metric."""
        found = tuple(int(broker) for broker in _detour(self.core_cost))
        return None if found[0] < 0 else (found[0], found[1], found[2])


@dataclass(frozen=True)
class Cost:
    """What an overlay costs: the links between users and brokers, and those between brokers."""

    access: float
    core: float

    @property
    def total(self) -> float:
        return self.access + self.core


@dataclass(frozen=True, eq=False)
class Attachment:
    """The broker of every user, and what that costs."""

    overlay: Overlay
    broker: Indices
    core: str = PER_PUBLISHER

    def __post_init__(self) -> None:
        object.__setattr__(self, "broker", frozen(np.array(self.broker, np.int32)))
        _check_attachment(self)

    @cached_property
    def cost(self) -> Cost:
        from polycast.overlay.cost import cost_of

        return cost_of(self.overlay, self.broker, self.core)

    @cached_property
    def load(self) -> Floats:
        """The traffic of each broker's users."""
        load = np.bincount(self.broker, self.overlay.demand, self.overlay.brokers)
        return np.asarray(load, np.float64)

    @property
    def over(self) -> list[int]:
        """The brokers that are over their capacity."""
        return [int(broker) for broker in np.flatnonzero(self.load > self.overlay.room)]


def frozen(array: Array) -> Array:
    """The array, contiguous and read-only: kernels are compiled for such ones."""
    array = np.ascontiguousarray(array).view()  # type: ignore[assignment]
    array.flags.writeable = False
    return array


@kernel
def demand_of(publishes: Floats, interest: Flags, rate: Floats) -> Floats:
    """Each user's traffic: what it sends, and what others send that it wants; `rate` is what all send."""
    demand = np.zeros(len(publishes))
    for user in range(len(publishes)):
        for channel in range(len(rate)):
            demand[user] += publishes[user, channel]
            if interest[user, channel]:
                demand[user] += max(0.0, rate[channel] - publishes[user, channel])
    return demand


@kernel
def _detour(cost: Floats) -> tuple[int, int, int]:
    for a in range(len(cost)):
        for via in range(len(cost)):
            for b in range(a):
                if cost[a, via] + cost[via, b] < cost[a, b] * (1 - 1e-9):
                    return a, via, b
    return -1, -1, -1


@kernel
def _first_unsound(values: Costs, infinite: bool) -> int:
    """The first of some values that is NaN, negative, or infinite where that is not allowed; or -1."""
    flat = values.reshape(-1)
    for position in range(len(flat)):
        if not (flat[position] >= 0.0 and (infinite or flat[position] < np.inf)):
            return position
    return -1


@kernel
def _dearest(values: Costs) -> float:
    """The highest finite value."""
    most = 0.0
    for value in values.reshape(-1):
        if most < value < np.inf:
            most = float(value)
    return most


def _check(overlay: Overlay) -> None:
    _check_shapes(overlay)
    if not overlay.brokers:
        raise BadInput("brokers", "there is no broker")
    _check_sound(overlay.publishes, "users[{}].publishes[{}]")
    _check_sound(overlay.core_cost, "core_cost[{}][{}]")
    _check_sound(overlay.access_cost, "access_cost[{}][{}]", infinite=True)
    _check_sound(overlay.capacity, "brokers[{}].capacity", infinite=True)
    for a, b in np.argwhere(overlay.core_cost != overlay.core_cost.T)[:1]:
        there, back = overlay.core_cost[a, b], overlay.core_cost[b, a]
        raise BadInput(f"core_cost[{a}][{b}]", f"{there} is not what core_cost[{b}][{a}] says, {back}")
    _check_magnitude(overlay)


def _check_shapes(overlay: Overlay) -> None:
    if overlay.publishes.ndim != 2 or overlay.capacity.ndim != 1:
        raise BadInput("publishes", "is not users × channels, or capacity not a row of numbers")
    users, brokers, channels = overlay.users, overlay.brokers, overlay.channels
    for name, shape in (
        ("interest", (users, channels)),
        ("access_cost", (users, brokers)),
        ("core_cost", (brokers, brokers)),
    ):
        actual = getattr(overlay, name).shape
        if actual != shape and not (users == 0 and name == "access_cost"):
            raise BadInput(name, f"its shape is {actual}, and {shape} is needed")
    for name, names, count in (("users", overlay.user_names, users), ("brokers", overlay.broker_names, brokers)):
        if names and (len(names) != count or len(set(names)) < count):
            raise BadInput(name, "every one needs one name of its own")


def _check_sound(values: Costs, where: str, infinite: bool = False) -> None:
    position = _first_unsound(values, infinite)
    if position >= 0:
        place = np.unravel_index(position, values.shape)
        raise BadInput(where.format(*place), f"{values[place]} is not a finite number of 0 or more")


def _check_magnitude(overlay: Overlay) -> None:
    """No sum of costs may overflow: an infinite cost means that something is impossible, and nothing else."""
    with np.errstate(over="ignore"):
        access = float(overlay.demand.sum()) * _dearest(overlay.access_cost)
        most = access + overlay.rate.sum() * overlay.core_cost.sum()
    if not np.isfinite(most):
        raise BadInput("users", "the costs are so large that their sum is not finite; use a larger unit")


def _check_attachment(attachment: Attachment) -> None:
    overlay, broker = attachment.overlay, attachment.broker
    if attachment.core not in CORES:
        raise BadInput("core", f'"{attachment.core}" is none of {", ".join(CORES)}')
    if broker.shape != (overlay.users,):
        raise BadInput("attachments", f"its shape is {broker.shape}, and {(overlay.users,)} is needed")
    for user in np.flatnonzero((broker < 0) | (broker >= overlay.brokers))[:1]:
        raise BadInput(f"attachments.{overlay.user_name(user)}", f"there is no broker {broker[user]}")
    for user in np.flatnonzero(~np.isfinite(overlay.access_cost[np.arange(overlay.users), broker]))[:1]:
        name = overlay.broker_name(broker[user])
        raise BadInput(f"attachments.{overlay.user_name(user)}", f'this user cannot use the broker "{name}"')
