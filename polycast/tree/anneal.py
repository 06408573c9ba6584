"""Simulated annealing over the six moves (Fidelity, Algorithm 3)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polycast.errors import BadInput
from polycast.kernel import kernel
from polycast.tree.costs import total
from polycast.tree.descend import descend
from polycast.tree.forest import Forest
from polycast.tree.greedy import greedy
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.moves import apply, change
from polycast.tree.neighbours import better, random_move
from polycast.tree.random_tree import random_tree
from polycast.tree.seats import Positions, Seats
from polycast.tree.servers import Floats, Servers
from polycast.tree.slices import Slices

ABHORRENCE = 100.0  # one full load too much is as bad as this many times the loss at the start


@dataclass(frozen=True)
class Schedule:
    """How annealing cools. Temperatures are losses: a move that adds as much is taken with probability 1/e.

    Parameters
    ----------
    start, frozen
        The first temperature, as a multiple of the cost of the first tree; and the one below which the search
        may end. With ``relative`` both are multiples of what one server loses in the first tree, averaged over
        all servers, which is the size of what a move changes; else ``start`` is a multiple of the average loss,
        and ``frozen`` a temperature.
    patience
        End when frozen and nothing better was found at this many temperatures.
    moves
        Moves tried at each temperature, per server.
    cooling
        Factor from one temperature to the next.
    from_greedy
        Start from greedy's tree; else from a random one.
    descend
        End with the best moves only, until none is left.
    """

    start: float = 1.0
    frozen: float = 1e-3
    relative: bool = True
    patience: int = 10
    moves: int = 64
    cooling: float = 0.95
    from_greedy: bool = True
    descend: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("start", "frozen"):
            if not 0 < getattr(self, name) < math.inf:
                raise BadInput(f"schedule.{name}", "is not a finite number above 0")
        if not 0 < self.cooling < 1:
            raise BadInput("schedule.cooling", "is not between 0 and 1")
        if self.moves < 1 or self.patience < 0:
            raise BadInput("schedule", "moves is at least 1, and patience at least 0")


USUAL = Schedule()

# The paper's parameters: hot for small losses, and infinitely hot from an overloaded start.
LITERAL = Schedule(start=2.0, frozen=1e-3, relative=False, from_greedy=False, descend=False)


def anneal(
    servers: Servers,
    per_object: bool = False,
    model: LossModel = APPROXIMATE,
    schedule: Schedule = USUAL,
    progress: Callable[[float], None] = lambda _: None,
) -> Forest:
    """Build a tree, shake it while it cools, and keep the best that was seen."""
    if schedule.from_greedy:
        forest = greedy(servers, per_object, model)
    else:
        forest = random_tree(servers, per_object, model, schedule.seed)
    return anneal_from(forest, schedule, progress)


def anneal_from(
    forest: Forest, schedule: Schedule = USUAL, progress: Callable[[float], None] = lambda _: None
) -> Forest:
    """Anneal a given forest, in place. Interrupted, it holds the best that was seen."""
    walk = _Walk(forest, schedule)
    try:
        walk.run(progress)
    finally:
        walk.keep_best()
    if schedule.descend:
        descend(forest)
    return forest


class _Walk:
    """One run: where it is, how hot it is, and the best so far."""

    def __init__(self, forest: Forest, schedule: Schedule) -> None:
        self.forest, self.schedule = forest, schedule
        self.rng = np.random.default_rng(schedule.seed)
        self.best = forest.parents
        overload, loss = total(forest.seats, forest.order)
        self.costs = np.array([overload, loss, overload, loss])  # here, and at the best
        servers = max(len(forest.servers) - 1, 1)
        scale = loss / servers
        self.penalty = ABHORRENCE * (loss or 1.0)
        if schedule.relative:
            self.temperature, self.frozen = schedule.start * scale, schedule.frozen * scale
        else:
            literal = math.inf if overload else schedule.start * loss
            self.temperature, self.frozen = literal, schedule.frozen * servers

    def run(self, progress: Callable[[float], None]) -> None:
        """Cool until frozen."""
        if len(self.forest) <= self.forest.seats.roots:
            return
        first, unchanged = self.temperature, 0
        while self.temperature >= self.frozen or unchanged < self.schedule.patience:
            before = self.costs[2:].copy()
            self._equilibrium()
            changed = better(self.costs[2], self.costs[3], *before)
            unchanged = 0 if changed else unchanged + 1
            self._cool()
            if self.temperature <= 0:
                return
            if math.isfinite(first) and first > self.frozen:
                done = math.log(first / max(self.temperature, self.frozen)) / math.log(first / self.frozen)
                progress(min(1.0, done))

    def _cool(self) -> None:
        if math.isfinite(self.temperature):
            self.temperature *= self.schedule.cooling
        elif self.costs[2] == 0:  # out of the overload by chance: only now is there a cost to start from
            self.temperature = self.schedule.start * self.costs[3]

    def _equilibrium(self) -> None:
        left, slices = self.schedule.moves * len(self.forest.servers), Slices(4096)
        while left:
            count = min(left, slices.size)
            seats = self.forest.seats
            anneal_some(seats, self.rng, count, self.temperature, self.penalty, self.costs, self.best)
            self.costs[:2] = total(seats, self.forest.order)
            slices.done(count)
            left -= count

    def keep_best(self) -> None:
        """Bring the forest back to the best that was seen."""
        overload, loss = total(self.forest.seats, self.forest.order)
        if better(self.costs[2], self.costs[3], overload, loss):
            self.forest.plant(self.best)


@kernel
def anneal_some(
    f: Seats,
    rng: np.random.Generator,
    count: int,
    temperature: float,
    penalty: float,
    costs: Floats,
    best: Positions,
) -> None:
    """Try random moves at one temperature. ``costs``: overload and loss, here and at the best."""
    unsaved = False
    for _ in range(count):
        kind, i, h = random_move(f, rng)
        if kind < 0:
            continue
        overload, loss = change(f, kind, i, h)
        worse = loss + penalty * overload
        if worse > 0 and rng.random() >= np.exp(-worse / temperature):
            continue
        if unsaved and worse > 0:
            _save(f, best)
            unsaved = False
        apply(f, kind, i, h)
        costs[0] += overload
        costs[1] += loss
        if better(costs[0], costs[1] * (1 + 1e-12), costs[2], costs[3]):
            costs[2], costs[3], unsaved = costs[0], costs[1], True
    if unsaved:
        _save(f, best)


@kernel
def _save(f: Seats, best: Positions) -> None:
    for v in range(len(best)):
        best[v] = f.seat[v].parent
