"""Attach users to brokers: the one entry to all attachment methods."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from polycast.errors import BadInput, NoSolution
from polycast.kernel import Interruptible
from polycast.overlay.attachment import CORES, PER_PUBLISHER, Attachment, Indices, Overlay
from polycast.overlay.bound import lower_bound
from polycast.overlay.candidates import candidates_of
from polycast.overlay.cluster import attach_in_clusters
from polycast.overlay.exact import attach_exactly
from polycast.overlay.greedy import attach_greedily
from polycast.overlay.local import attach_locally
from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.random_attachment import attach_randomly
from polycast.overlay.search import Search

METHODS: dict[str, Callable[[Search], None]] = {
    "random": attach_randomly,
    "greedy": attach_greedily,
    "cluster": attach_in_clusters,
    "mix": attach_by_mixing,
    "local": attach_locally,
    "exact": attach_exactly,
}

# Rounds in the search for a bound, by how long the method itself takes.
QUICK, THOROUGH = 30, 300


@dataclass(frozen=True)
class Solution:
    """An attachment, and how good it is known to be.

    Parameters
    ----------
    lower_bound
        No attachment within the capacities costs less.
    interrupted
        Whether Ctrl-C ended the search early; the attachment is the best until then.
    """

    method: str
    attachment: Attachment
    lower_bound: float
    seconds: float
    interrupted: bool = False

    @property
    def gap(self) -> float:
        """By how much, at most, the attachment costs more than the cheapest, as a share of its own cost."""
        total = self.attachment.cost.total
        return (total - self.lower_bound) / total if total else 0.0


def solve(
    overlay: Overlay,
    method: str = "local",
    *,
    core: str = PER_PUBLISHER,
    seed: int = 0,
    time_limit: float | None = None,
    on_progress: Callable[[float | None, str], None] | None = None,
) -> Solution:
    """Attach every user to one broker, at little cost, within the capacities.

    Parameters
    ----------
    method
        ``greedy``, ``cluster`` and ``mix`` are the paper's, ``local`` is ours, ``exact`` is for small networks,
        and ``random`` is what the others are measured against.
    core
        How messages travel between brokers: ``per-publisher`` or ``shared``.
    time_limit
        In seconds; when it is reached, the best attachment so far is the answer.
    on_progress
        Called now and then with the share that is done (None where nobody knows) and a message.
    """
    if method not in METHODS:
        raise BadInput("method", f'"{method}" is none of {", ".join(METHODS)}')
    _check(core, seed, time_limit)
    start = time.perf_counter()
    deadline = math.inf if time_limit is None else start + time_limit
    search = Search(overlay, core, seed, deadline, on_progress)
    with Interruptible() as work:
        METHODS[method](search)
        bound(search, THOROUGH if method in ("local", "exact") else QUICK)
    if search.best is None:
        raise NoSolution("interrupted before any attachment was found")
    return _solution(method, search.best, search.lower_bound, start, work.interrupted)


def evaluate(
    overlay: Overlay,
    broker: Indices,
    *,
    core: str = PER_PUBLISHER,
    on_progress: Callable[[float | None, str], None] | None = None,
) -> Solution:
    """Say what a given attachment costs; it may be over the capacities."""
    start = time.perf_counter()
    search = Search(overlay, core, on_progress=on_progress)
    search.offer(broker)
    bound(search, THOROUGH)
    assert search.best is not None
    return _solution("evaluate", search.best, search.lower_bound, start, False)


def bound(search: Search, rounds: int) -> None:
    """Raise the search's bound, with what it has found as the aim."""
    if search.best is not None:
        candidates = candidates_of(search)
        search.raise_bound(lower_bound(search.overlay, candidates, search.best.cost.access, rounds))


def _check(core: str, seed: int, time_limit: float | None) -> None:
    if core not in CORES:
        raise BadInput("core", f'"{core}" is none of {", ".join(CORES)}')
    if seed < 0:
        raise BadInput("seed", f"{seed} is not 0 or more")
    if time_limit is not None and not time_limit > 0:
        raise BadInput("time_limit", f"{time_limit} is not a number of seconds above 0")


def _solution(method: str, best: Attachment, bound: float, start: float, interrupted: bool) -> Solution:
    if not best.over:  # what is over the capacities may well cost less than all that is not
        bound = min(bound, best.cost.total)
    return Solution(method, best, bound, time.perf_counter() - start, interrupted)
