"""Local, our own search: greedy's tree, improved by taking a few seats out and putting them back.

A round takes some seats, with all that is below them, out of a tree, and lets each join again at its best place
anywhere in the tree. If the tree has not become better, the round is undone. What is left at the end is descended
from with the six moves. A round looks at the whole tree in a few walks, so it finds in hundreds of rounds what
annealing, which tries one move at a time, finds in millions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polycast.errors import BadInput
from polycast.kernel import kernel
from polycast.tree.descend import descend
from polycast.tree.forest import Forest
from polycast.tree.greedy import greedy
from polycast.tree.joining import REACH, best_place, join, leave
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.neighbours import better
from polycast.tree.seats import NOBODY, Positions, Records, Seats, walk_from
from polycast.tree.servers import Servers
from polycast.tree.slices import Slices

WALKS = 2**21  # seats that may be looked at per seat taken out, where there are many


@dataclass(frozen=True)
class LocalSearch:
    """How long to search, and how.

    Parameters
    ----------
    rounds
        How often some seats are taken out; None: two rounds for each seat, fewer where trees are large.
    out
        How many seats a round takes out.
    """

    rounds: int | None = None
    out: int = 6
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 0:
            raise BadInput("search.rounds", "is not 0 or more")
        if self.out < 1:
            raise BadInput("search.out", "is not 1 or more")

    def rounds_for(self, forest: Forest) -> int:
        if self.rounds is not None:
            return self.rounds
        seats = len(forest)
        return min(2 * seats, WALKS * len(forest.objects) // max(seats, 1))


USUAL = LocalSearch()


def local(
    servers: Servers,
    per_object: bool = False,
    model: LossModel = APPROXIMATE,
    search: LocalSearch = USUAL,
    progress: Callable[[float], None] = lambda _: None,
) -> Forest:
    """Build a tree greedily and improve it."""
    return improve(greedy(servers, per_object, model), search, progress)


def improve(
    forest: Forest, search: LocalSearch = USUAL, progress: Callable[[float], None] = lambda _: None
) -> Forest:
    """Improve a given forest in place. It is at no time worse than before."""
    rng, rounds = np.random.default_rng(search.seed), search.rounds_for(forest)
    work = np.zeros(len(forest.seats.seat), REACH), np.empty(len(forest), np.int32)
    slices, done = Slices(4), 0
    while done < rounds and len(forest) > forest.seats.roots:
        count = min(rounds - done, slices.size)
        reseat(forest.seats, rng, count, search.out, *work)
        slices.done(count)
        done += count
        progress(done / rounds)
    return descend(forest)


@kernel
def reseat(f: Seats, rng: np.random.Generator, rounds: int, out: int, reach: Records, order: Positions) -> None:
    """Some rounds of the search; each ends with a tree that is better, or as it was."""
    seat, before = np.empty(out, np.int32), np.empty(out, np.int32)
    for _ in range(rounds):
        root = _choose(f, rng, seat, before, order)
        overload, loss = 0.0, 0.0
        for m in range(out):
            if before[m] != NOBODY:
                over, more = leave(f, seat[m])
                overload, loss = overload + over, loss + more
        for m in range(out):
            if before[m] != NOBODY:
                placed = order[: walk_from(f, root, order)]
                over, more = join(f, seat[m], best_place(f, placed, seat[m], reach, True))
                overload, loss = overload + over, loss + more
        if not better(overload, loss, 0.0, 0.0):
            _put_back(f, seat, before)


@kernel
def _choose(f: Seats, rng: np.random.Generator, seat: Positions, before: Positions, order: Positions) -> int:
    """Choose seats of one tree by chance, and note where they hang: nowhere, where one is chosen twice."""
    root = f.roots + int(rng.random() * (f.nothing - f.roots))
    while f.seat[root].parent != NOBODY:
        root = f.seat[root].parent
    count = walk_from(f, root, order)
    for m in range(len(seat)):
        seat[m] = order[1 + int(rng.random() * (count - 1))]
        before[m] = f.seat[seat[m]].parent
        for earlier in range(m):
            if seat[earlier] == seat[m]:
                before[m] = NOBODY
    return int(root)


@kernel
def _put_back(f: Seats, seat: Positions, before: Positions) -> None:
    """Undo a round."""
    for m in range(len(seat)):
        if before[m] != NOBODY:
            leave(f, seat[m])
    for m in range(len(seat)):
        if before[m] != NOBODY:
            join(f, seat[m], before[m])
