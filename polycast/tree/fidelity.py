"""The loss of fidelity of every server in given trees (Fidelity, sections 3.1 and 4.1.1), all at once."""

from dataclasses import dataclass

import numpy as np

from polycast.kernel import kernel
from polycast.tree.seats import NOBODY, SHARE, TAKEN, TAKERS, TOP, Positions, Seats
from polycast.tree.servers import SOURCE, Flags, Floats, Servers


@dataclass(frozen=True, eq=False)
class Fidelity:
    """What a choice of trees means for the servers.

    Parameters
    ----------
    losses : (n,)
        LF of every server; infinite below an overloaded broker. The source's is 0, and does not count.
    loads : (n,)
        The share of each server's processor that the trees take (ρ).
    overloaded : (n,)
        Where the load is 1 or more.
    average
        AvgLF, the mean over all servers but the source.
    """

    losses: Floats
    loads: Floats
    overloaded: Flags
    average: float


def lose(servers: Servers, f: Seats, order: Positions) -> Fidelity:
    """The fidelity of seats whose columns are up to date; ``order`` has every parent before its children."""
    losses = np.zeros(len(servers))
    _losses(f, order, losses)
    loads = f.server["work"] + (0.0 if f.literal else f.server["upkeep"])
    overloaded = loads >= 1
    average = float(losses[SOURCE + 1 :].mean()) if len(losses) > 1 else 0.0
    return Fidelity(losses, loads, overloaded, average)


@kernel
def _losses(f: Seats, order: Positions, losses: Floats) -> None:
    """Carry the delays down from the roots; every seat adds to its server's loss."""
    lanes = f.width if f.precise else 1
    delay = np.zeros((len(f.seat), lanes))
    for v in order:
        here = f.seat[v]
        if here.parent != NOBODY:
            base = here.hop + _shared_delay(f, here.parent)
            for x in range(lanes):
                own = _own_delay(f, here.parent, v, x)
                delay[v, x] = delay[here.parent, x] + base + own
        for x in range(lanes):
            weight = f.lane[v, SHARE, x] if f.precise else here.weight
            if weight > 0:
                losses[here.server] += weight * delay[v, x]


@kernel
def _shared_delay(f: Seats, k: int) -> float:
    """The part of g that is the same for all children and objects: the queue, and the message's own time."""
    server = f.server[f.seat[k].server]
    if server.rate <= 0:
        return 0.0
    load = server.work if f.literal else server.work + server.upkeep
    if load >= 1:
        return float(np.inf)
    queue = load / (1 - load) * (server.work / server.rate)
    return float(queue + server.filter_time + server.transmit_time + (server.upkeep if f.literal else 0.0))


@kernel
def _own_delay(f: Seats, k: int, j: int, x: int) -> float:
    """The part of g behind other children: of one object and child, or the mean."""
    above = f.seat[k]
    if above.rate <= 0 or above.children == 0:
        return 0.0
    if not f.precise:
        return float(0.5 * above.work / above.rate * (1.0 - 1.0 / above.children))
    top, below = f.lane[k, TOP, x], f.lane[j, TOP, x]
    if top <= 0:
        return 0.0
    server = f.server[above.server]
    checked = server.filter_time * (f.lane[k, TAKERS, x] - (below > 0))
    return float(0.5 * (checked + server.transmit_time * (f.lane[k, TAKEN, x] - below) / top))
