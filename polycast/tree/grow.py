"""Grow trees: the one entry to all builders."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from polycast.errors import BadInput
from polycast.kernel import Interruptible
from polycast.tree.anneal import Schedule, anneal_from
from polycast.tree.bounds import lower_bound
from polycast.tree.dita import dita_from
from polycast.tree.exact import exact
from polycast.tree.fidelity import Fidelity
from polycast.tree.forest import Forest, Trees
from polycast.tree.greedy import greedy
from polycast.tree.local import LocalSearch, improve
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.random_tree import random_tree
from polycast.tree.servers import Servers
from polycast.tree.star import star

Progress = Callable[[float | None, str], None]


@dataclass
class Growing:
    """What a method is asked, and the trees that it has so far.

    A method holds up its trees as soon as they are whole and improves them in place, so that Ctrl-C always
    finds the best so far.
    """

    servers: Servers
    per_object: bool = False
    model: LossModel = APPROXIMATE
    seed: int = 0
    on_progress: Progress = field(default=lambda _share, _message: None)
    forest: Forest | None = None
    bound: float = 0.0

    @property
    def question(self) -> tuple[Servers, bool, LossModel]:
        return self.servers, self.per_object, self.model

    def hold(self, forest: Forest) -> Forest:
        self.forest = forest
        return forest


def _star(growing: Growing) -> Forest:
    return growing.hold(star(*growing.question))


def _random(growing: Growing) -> Forest:
    return growing.hold(random_tree(*growing.question, growing.seed))


def _dita(growing: Growing) -> Forest:
    return dita_from(_star(growing), lambda share: growing.on_progress(share, "dita"))


def _greedy(growing: Growing) -> Forest:
    growing.on_progress(None, "greedy")
    return growing.hold(greedy(*growing.question))


def _local(growing: Growing) -> Forest:
    search = LocalSearch(seed=growing.seed)
    return improve(_greedy(growing), search, lambda share: growing.on_progress(share, "local"))


def _anneal(growing: Growing) -> Forest:
    schedule = Schedule(seed=growing.seed)
    return anneal_from(_greedy(growing), schedule, lambda share: growing.on_progress(share, "anneal"))


def _exact(growing: Growing) -> Forest:
    """The optimum is also its own bound, once all trees were looked at."""
    forest = exact(_local(growing), lambda share: growing.on_progress(share, "exact"))
    growing.bound = forest.fidelity.average
    return forest


METHODS: dict[str, Callable[[Growing], Forest]] = {
    "greedy": _greedy,
    "anneal": _anneal,
    "dita": _dita,
    "star": _star,
    "random": _random,
    "local": _local,
    "exact": _exact,
}


@dataclass(frozen=True)
class Growth:
    """Trees, what they lose, and how good they are known to be.

    Parameters
    ----------
    forest
        The trees, ready for more: ``forest.trees`` has them as nouns.
    lower_bound
        No trees of this kind have a lower average loss; infinite where all trees overload a broker.
    interrupted
        Whether Ctrl-C ended the search early; the trees are the best until then.
    """

    method: str
    forest: Forest
    fidelity: Fidelity
    lower_bound: float
    seconds: float
    interrupted: bool = False

    @property
    def trees(self) -> Trees:
        """One tree under None, or one for each object that somebody wants."""
        return self.forest.trees

    @property
    def average_loss(self) -> float:
        """The mean loss over all servers but the source."""
        return self.fidelity.average

    @property
    def overloaded(self) -> tuple[str, ...]:
        """The servers with a load of 1 or more, by name."""
        return tuple(
            name for name, over in zip(self.forest.servers.names, self.fidelity.overloaded, strict=True) if over
        )


def grow(
    servers: Servers,
    method: str = "greedy",
    *,
    per_object: bool = False,
    model: LossModel = APPROXIMATE,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Growth:
    """Build trees that keep the servers fresh.

    Parameters
    ----------
    method
        ``greedy`` (Algorithm 2), ``anneal`` (Algorithm 3), ``dita``, ``star``, ``random``, ``local`` (ours: as
        good as annealing, in a small part of its time), or ``exact`` (the optimum of a handful of servers).
    per_object
        One tree for each object, over the source and the servers that want it; else one tree over all servers.
    model
        How loss is computed: approximate or precise, with or without the work of adapting.
    on_progress
        Called now and then with the share that is done (None where nobody knows) and a message.
    """
    if method not in METHODS:
        raise BadInput("method", f'"{method}" is none of {", ".join(METHODS)}')
    start = time.perf_counter()
    growing = Growing(servers, per_object, model, seed)
    if on_progress is not None:
        growing.on_progress = on_progress
    with Interruptible() as work:
        METHODS[method](growing)
    forest = growing.forest or star(*growing.question)  # interrupted before anything was whole
    return _growth(method, forest, growing.bound, start, work.interrupted)


def evaluate(servers: Servers, trees: Trees, model: LossModel = APPROXIMATE, where: str = "trees") -> Growth:
    """What given trees lose."""
    start = time.perf_counter()
    return _growth("evaluate", Forest.of(servers, trees, model, where), 0.0, start, False)


def _growth(method: str, forest: Forest, bound: float, start: float, interrupted: bool) -> Growth:
    forest.settle()
    fidelity = forest.fidelity
    bound = max(bound, lower_bound(forest.servers, forest.per_object, forest.model))
    bound = min(bound, fidelity.average)  # they may be equal but for rounding
    return Growth(method, forest, fidelity, bound, time.perf_counter() - start, interrupted)
