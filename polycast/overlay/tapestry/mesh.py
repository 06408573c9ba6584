"""The overlay that brokers form: who is in it, their routing tables, and the ways through it."""

from collections.abc import Sequence

import numpy as np

from polycast.errors import BadInput
from polycast.kernel import kernel
from polycast.overlay.shortest_paths import Indices, Numbers
from polycast.overlay.tapestry.identifiers import BASE, DIGITS, Identifiers, digit, identifiers, shared_digits
from polycast.overlay.tapestry.proximity import Space, space_of
from polycast.overlay.tapestry.routing import Routes, follow
from polycast.overlay.tapestry.tables import (
    NOBODY,
    Directory,
    Flags,
    Tables,
    choose,
    depth_of,
    directory_of,
    end_of,
    fill,
    offer,
)
from polycast.overlay.topology import Topology

# The nearest broker and two that stand in for it, as in Tapestry.
COPIES = 3

# Tables that one call of a kernel may fill, so that Ctrl-C is heard within some 100 ms.
SLICE = 4096


class Tapestry:
    """Brokers that find the root of any key by their own tables alone.

    Every broker of the network has an identifier, which comes from its name; those that are members of the overlay
    have a table. Members join, leave with a word, or fail without one. Until :meth:`repair`, the others know of
    a failure only that a neighbour does not answer, and use its stand-ins.

    Parameters
    ----------
    names
        Of all brokers that may ever be members.
    space
        How far they are from each other: tables name the nearest of all brokers that fit.
    members
        Who is in at first; all, if left out.
    """

    def __init__(
        self, names: Sequence[str], space: Space, members: Sequence[int] | None = None, copies: int = COPIES
    ) -> None:
        if space.brokers != len(names):
            raise BadInput("space", f"distances of {space.brokers} brokers, and names of {len(names)}")
        if copies < 1:
            raise BadInput("copies", f"{copies} is not 1 or more")
        self.names = tuple(names)
        self.identifiers = identifiers(names)
        if len(np.unique(self.identifiers)) < len(names):
            raise BadInput("names", "two brokers have one identifier")
        self.space = space
        self.alive: Flags = np.zeros(len(names), np.bool_)
        self.alive[slice(None) if members is None else list(members)] = True
        directory = self._directory()
        self.tables: Tables = np.full((len(names), depth_of(directory), BASE, copies), NOBODY, np.int32)
        for first in range(0, len(directory.broker), SLICE):
            fill(directory, space, self.tables, first, min(first + SLICE, len(directory.broker)))

    @classmethod
    def over(cls, topology: Topology) -> "Tapestry":
        """All brokers of a network, near if the way between them is cheap."""
        return cls(topology.names, space_of(topology))

    @property
    def members(self) -> Indices:
        """The brokers that are in the overlay and alive."""
        return np.flatnonzero(self.alive).astype(np.int32)

    def routes(self, sources: Numbers, keys: Identifiers | np.uint64) -> Routes:
        """The way from each source to the root of its key (or of the one key)."""
        starts = np.ascontiguousarray(sources, np.int32)
        if not self.alive[starts].all():
            raise BadInput("sources", f'"{self.names[starts[~self.alive[starts]][0]]}" is not in the overlay')
        path = np.full((len(starts), self.tables.shape[1] + 1), NOBODY, np.int32)
        targets = np.ascontiguousarray(np.broadcast_to(keys, len(starts)), np.uint64)
        follow(self.tables, self.identifiers, self.alive, starts, targets, path)
        hops = ((path != NOBODY).sum(axis=1) - 1).astype(np.int32)
        return Routes(path[:, : int(hops.max(initial=0)) + 1], hops)

    def root(self, key: np.uint64) -> int:
        """The broker that is responsible for a key."""
        members = self.members
        if not len(members):
            raise BadInput("members", "nobody is in the overlay")
        return int(self.routes(members[:1], key).ends[0])

    def join(self, broker: int) -> int:
        """Take a broker in; returns how many tables now name it.

        Everybody that shares a prefix with it and had nobody for its next digit must hear of it, or routes would
        end at two roots; whoever finds it nearer than a neighbour takes it too.
        """
        if self.alive[broker]:
            raise BadInput("broker", f'"{self.names[broker]}" is in the overlay already')
        self.alive[broker] = True
        missing = depth_of(self._directory()) - self.tables.shape[1]
        if missing > 0:
            self.tables = np.pad(self.tables, ((0, 0), (0, missing), (0, 0), (0, 0)), constant_values=NOBODY)
        self.tables[broker] = NOBODY
        return int(_welcome(self.identifiers, self.alive, self.space, self.tables, broker))

    def leave(self, broker: int) -> int:
        """Let a broker go; it tells those who name it whom to take instead. Returns how many entries changed."""
        self.fail([broker])
        return self.repair()

    def fail(self, brokers: Numbers) -> None:
        """Brokers stop without a word: nobody answers any longer, and all tables stay as they are."""
        gone = np.asarray(brokers)
        if not self.alive[gone].all():
            raise BadInput("brokers", f'"{self.names[gone[~self.alive[gone]][0]]}" is not in the overlay')
        self.alive[gone] = False

    def repair(self) -> int:
        """Replace all who do not answer, as the regular probing of neighbours does.

        A replacement is found with those who share the prefix. Returns how many entries changed.
        """
        return int(_repair(self._directory(), self.identifiers, self.alive, self.space, self.tables))

    def _directory(self) -> Directory:
        return directory_of(self.identifiers, self.alive)


@kernel
def _welcome(identifier: Identifiers, alive: Flags, space: Space, tables: Tables, newcomer: int) -> int:
    heard = 0
    for broker in range(len(alive)):
        if alive[broker] and broker != newcomer:
            level = shared_digits(identifier[broker], identifier[newcomer])
            offer(space, newcomer, broker, tables[newcomer, level, digit(identifier[broker], level)])
            if offer(space, broker, newcomer, tables[broker, level, digit(identifier[newcomer], level)]):
                heard += 1
    return heard


@kernel
def _repair(directory: Directory, identifier: Identifiers, alive: Flags, space: Space, tables: Tables) -> int:
    changed = 0
    for broker in directory.broker:
        for level in range(tables.shape[1]):
            for d in range(BASE):
                if _has_dead(tables[broker, level, d], alive):
                    start, end = _stretch(directory, identifier[broker], level, d)
                    choose(directory, space, broker, start, end, tables[broker, level, d])
                    changed += 1
    return changed


@kernel
def _has_dead(entry: Indices, alive: Flags) -> bool:
    for neighbour in entry:
        if neighbour == NOBODY:
            return False
        if not alive[neighbour]:
            return True
    return False


@kernel
def _stretch(directory: Directory, own: np.uint64, level: int, d: int) -> tuple[int, int]:
    """Where those stand in the directory who share a prefix with ``own`` and have digit ``d`` next."""
    shift = np.uint64(4 * (DIGITS - 1 - level))
    before = (own >> shift >> np.uint64(4)) << shift << np.uint64(4)
    lowest = before | (np.uint64(d) << shift)
    start = int(np.searchsorted(directory.identifier, lowest))
    return start, end_of(directory.identifier, own, level, d, start, len(directory.identifier))
