"""DiTA (Shah and others), as the paper compares with it: centralised, its limit on children tuned by trial.

The most demanding servers join first, so that nobody serves one more demanding than itself; each joins below the
nearest server that may still have a child.
"""

from collections.abc import Callable

import numpy as np

from polycast.kernel import kernel
from polycast.tree.forest import Forest
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.neighbours import better
from polycast.tree.seats import NOBODY, OWN, Positions
from polycast.tree.servers import Floats, Servers
from polycast.tree.star import star


def dita(servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE) -> Forest:
    """Build the trees with every limit that is worth a trial, and keep the best."""
    return dita_from(star(servers, per_object, model))


def dita_from(forest: Forest, progress: Callable[[float], None] = lambda _: None) -> Forest:
    """Plant DiTA's trees in a given forest. Interrupted, it holds the best that were tried."""
    orders = [_by_demand(forest, tree) for tree in range(len(forest.objects))]
    best, least = forest.parents, (np.inf, np.inf)
    trials = limits(max(map(len, orders), default=1))
    try:
        for done, limit in enumerate(trials, start=1):
            forest.plant(_parents(forest, orders, limit))
            cost = forest.cost
            if better(cost.overload, cost.loss, *least):
                best, least = forest.parents, (cost.overload, cost.loss)
            progress(done / len(trials))
    finally:
        forest.plant(best)
    return forest


def limits(servers: int) -> list[int]:
    """The limits worth a trial: every one up to 16, then steps of a quarter."""
    trials = [1]
    while trials[-1] < servers - 1:
        trials.append(max(trials[-1] + 1, trials[-1] * 5 // 4) if trials[-1] >= 16 else trials[-1] + 1)
    return trials


def _by_demand(forest: Forest, tree: int) -> Positions:
    """The seats of a tree, the source first, then the highest rates, over all objects, first."""
    members = np.flatnonzero(forest.tree_of == tree)
    demand = forest.seats.lane[members, OWN].sum(axis=1)
    demand[0] = np.inf
    return members[np.argsort(-demand, kind="stable")].astype(np.int32)


def _parents(forest: Forest, orders: list[Positions], limit: int) -> Positions:
    parents = np.full(len(forest), NOBODY, np.int32)
    for order in orders:
        above = _nearest(forest.servers.arriving, forest.server_of[order], limit)
        parents[order[1:]] = order[above[1:]]
    return parents


@kernel
def _nearest(arriving: Floats, servers: Positions, limit: int) -> Positions:
    """For each server the place, in the order of joining, of the nearest before it that has room."""
    free = np.full(len(servers), limit, np.int32)
    above = np.full(len(servers), NOBODY, np.int32)
    for v in range(1, len(servers)):
        row, nearest = arriving[servers[v]], np.inf
        for p in range(v):
            if free[p] > 0 and row[servers[p]] < nearest:
                above[v], nearest = p, row[servers[p]]
        free[above[v]] -= 1
    return above
