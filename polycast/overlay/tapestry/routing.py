"""Prefix routing with surrogates: each hop fits one more digit of the key, or the next digit that anybody has."""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.shortest_paths import Indices
from polycast.overlay.tapestry.identifiers import BASE, Identifiers, digit
from polycast.overlay.tapestry.tables import NOBODY, Flags, Tables


class Routes(NamedTuple):
    """The ways that messages went.

    Parameters
    ----------
    path : (routes, longest)
        The brokers on the way, source and end included; -1 behind the end.
    hops : (routes,)
        How many links each way has.
    """

    path: Indices
    hops: Indices

    @property
    def ends(self) -> Indices:
        """Where each way ends: the root of its key."""
        ends: Indices = self.path[np.arange(len(self.path)), self.hops]
        return ends


@kernel
def follow(
    tables: Tables, identifiers: Identifiers, alive: Flags, sources: Indices, keys: Identifiers, path: Indices
) -> None:
    """Write the way from every source to its key's root into a row of ``path``."""
    for row in range(len(sources)):
        broker, level, hop = sources[row], 0, 0
        path[row, 0] = broker
        while True:
            broker, level = next_hop(tables, identifiers, alive, broker, keys[row], level)
            if broker == NOBODY:
                break
            hop += 1
            path[row, hop] = broker


@kernel
def next_hop(
    tables: Tables, identifiers: Identifiers, alive: Flags, broker: int, key: np.uint64, level: int
) -> tuple[int, int]:
    """Where a broker sends a message of which it knows the key and how many digits have been settled.

    The answer is the next broker, or -1 if this one is the root, and the digits settled then. Nothing is read
    but the broker's own table, and whether the neighbours in it answer.
    """
    while level < tables.shape[1]:
        wanted, own = digit(key, level), digit(identifiers[broker], level)
        for step in range(BASE):
            d = (wanted + step) % BASE
            if d == own:
                break
            neighbour = first_alive(tables[broker, level, d], alive)
            if neighbour != NOBODY:
                return neighbour, level + 1
        level += 1
    return NOBODY, level


@kernel
def first_alive(entry: Indices, alive: Flags) -> int:
    """The nearest broker of an entry that answers; -1 if none does."""
    for neighbour in entry:
        if neighbour == NOBODY:
            break
        if alive[neighbour]:
            return int(neighbour)
    return NOBODY
