"""Find a plan: the one entry to all placement methods."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from polycast.errors import BadInput, NoSolution
from polycast.kernel import Interruptible
from polycast.model.plan import Plan
from polycast.model.problem import Problem
from polycast.place.all_in_leaves import place_all_in_leaves
from polycast.place.all_in_root import place_all_in_root
from polycast.place.auto import auto
from polycast.place.exact import place_exact
from polycast.place.multilayer import place_multilayer
from polycast.place.refine import place_refine
from polycast.place.search import PROVED, Options, Search
from polycast.place.single_format import place_single_format

Method = Callable[[Search], None]

METHODS: dict[str, Method] = {
    "auto": auto,
    "exact": place_exact,
    "all-in-root": place_all_in_root,
    "all-in-leaves": place_all_in_leaves,
    "single-format": place_single_format,
    "refine": place_refine,
    "multilayer": place_multilayer,
}


@dataclass(frozen=True)
class Solution:
    """A plan, and how good it is known to be.

    Parameters
    ----------
    lower_bound
        No plan costs less.
    optimal
        Whether that proves the plan the cheapest there is, to a relative 1e-9.
    history
        The cost after each round of refinement, if asked for.
    interrupted
        Whether Ctrl-C ended the search early; the plan is the best until then.
    """

    method: str
    plan: Plan
    lower_bound: float
    optimal: bool
    seconds: float
    history: tuple[float, ...] | None = None
    interrupted: bool = False

    @property
    def gap(self) -> float:
        """By how much, at most, the plan costs more than the cheapest, as a share of its own cost."""
        total = self.plan.cost.total
        return (total - self.lower_bound) / total if total else 0.0


def solve(
    problem: Problem,
    method: str = "auto",
    *,
    time_limit: float | None = None,
    on_progress: Callable[[float | None, str], None] | None = None,
    **options: object,
) -> Solution:
    """Decide where on the tree each conversion runs.

    Parameters
    ----------
    method
        ``exact`` (the optimum), ``refine`` (CCD's heuristic), ``multilayer``, the simple plans ``all-in-root``,
        ``all-in-leaves`` and ``single-format``, or ``auto``: the best that fits in the time limit.
    time_limit
        In seconds; when it is reached, the best plan so far is the answer.
    on_progress
        Called now and then with the share that is done (None where nobody knows) and a message.
    **options
        The fields of :class:`polycast.place.search.Options`.
    """
    if method not in METHODS:
        raise BadInput("method", f'"{method}" is none of {", ".join(METHODS)}')
    if time_limit is not None and not time_limit > 0:
        raise BadInput("time_limit", f"{time_limit} is not a number of seconds above 0")
    start = time.perf_counter()
    deadline = math.inf if time_limit is None else start + time_limit
    search = Search(problem, options_of(options), deadline, on_progress)
    with Interruptible() as work:
        METHODS[method](search)
    return _solution(method, search, time.perf_counter() - start, work.interrupted)


def options_of(options: dict[str, object]) -> Options:
    unknown = set(options) - set(Options.__dataclass_fields__)
    if unknown:
        raise BadInput("options", f"there is no option {sorted(unknown)[0]}")
    return Options(**options)  # type: ignore[arg-type]


def _solution(method: str, search: Search, seconds: float, interrupted: bool) -> Solution:
    if search.best is None:
        raise NoSolution("no plan was found")
    total = search.best.cost.total
    bound = min(search.lower_bound, total)
    return Solution(
        method=method,
        plan=search.best,
        lower_bound=bound,
        optimal=total - bound <= PROVED * total,
        seconds=seconds,
        history=tuple(search.history) if search.options.history else None,
        interrupted=interrupted,
    )
