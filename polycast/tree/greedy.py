"""Greedy: servers join one by one, each below whoever costs least (Fidelity, Algorithm 2).

They join by their delay from the source plus the time they need for a message. Each place is found in one walk
over the tree (see ``joining``), which makes `O(|O| · |N|²)` in all, whatever the height.
"""

import numpy as np

from polycast.kernel import kernel
from polycast.tree.costs import settle
from polycast.tree.forest import Forest
from polycast.tree.joining import REACH, best_place, join
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.seats import NOBODY, Positions, Records, Seats
from polycast.tree.servers import SOURCE, Servers
from polycast.tree.slices import Slices


def greedy(servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE) -> Forest:
    """Build the trees, object by object."""
    forest = Forest(servers, per_object, model)
    forest.plant(np.full(len(forest), NOBODY, np.int32))
    settle(forest.seats, np.arange(len(forest), dtype=np.int32))  # all as leaves, hanging nowhere yet
    near = servers.delays[SOURCE] + servers.filter_time + servers.transmit_time
    for tree in range(len(forest.objects)):
        members = np.flatnonzero(forest.tree_of == tree).astype(np.int32)
        members[1:] = members[1:][np.argsort(near[forest.server_of[members[1:]]], kind="stable")]
        _join_all(forest.seats, members)
    return forest


def _join_all(f: Seats, members: Positions) -> None:
    reach = np.zeros(len(f.seat), REACH)
    slices, done = Slices(), 1
    while done < len(members):
        end = min(len(members), done + slices.size)
        join_some(f, members, done, end, reach)
        slices.done(end - done)
        done = end


@kernel
def join_some(f: Seats, members: Positions, start: int, end: int, reach: Records) -> None:
    """Hang ``members[start:end]``, one after the other, each at its best place among those before it."""
    for m in range(start, end):
        join(f, members[m], best_place(f, members[:m], members[m], reach, False))
