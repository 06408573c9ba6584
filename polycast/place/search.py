"""What a placement method reports while it works, and how it learns that it should stop."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from polycast.errors import BadInput
from polycast.model.plan import Plan
from polycast.model.problem import Problem

# The relative difference between a plan and a bound that rounding alone may leave.
PROVED = 1e-9

MOST_ITERATIONS = 1_000_000_000

SELECTIONS = ("slack", "random")
STARTS = ("best", "reduced", "all-in-root", "all-in-leaves", "single-format")


@dataclass(frozen=True)
class Options:
    """What the methods may be told; each reads what concerns it.

    Parameters
    ----------
    iterations
        Rounds of refinement (the papers' K).
    select
        Which broker is refined next: the one with the most ``slack``, or a ``random`` one.
    depth
        Levels of the region that a round improves, 1 to 3; 1 is a broker and its children, as in the papers.
    start
        The plan that refinement begins with: the ``best`` of the simple ones, one of them, or the one that is
        exact on a ``reduced`` graph.
    history
        Whether to keep the cost after each round.
    """

    iterations: int = 500
    select: str = "slack"
    depth: int = 1
    start: str = "best"
    seed: int = 0
    history: bool = False

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("iterations", 0 <= self.iterations <= MOST_ITERATIONS, f"a number from 0 to {MOST_ITERATIONS:,}"),
            ("select", self.select in SELECTIONS, f"one of {', '.join(SELECTIONS)}"),
            ("depth", self.depth in (1, 2, 3), "1, 2 or 3"),
            ("start", self.start in STARTS, f"one of {', '.join(STARTS)}"),
            ("seed", self.seed >= 0, "0 or more"),
        ):
            if not right:
                raise BadInput(name, f"{getattr(self, name)!r} is not {wanted}")


@dataclass
class Search:
    """The best plan and the best bound so far, shared between a method and whoever waits for it.

    A method offers every plan worth keeping as soon as it has it, so that a time limit or Ctrl-C always finds
    the best so far. It looks at ``spent`` at least every 100 ms.
    """

    problem: Problem
    options: Options = field(default_factory=Options)
    deadline: float = float("inf")
    on_progress: Callable[[float | None, str], None] | None = None
    best: Plan | None = None
    lower_bound: float = 0.0
    history: list[float] = field(default_factory=list)

    def offer(self, plan: Plan) -> bool:
        """Keep a plan if it is the cheapest so far, and say whether it is."""
        better = self.best is None or plan.cost.total < self.best.cost.total
        if better:
            self.best = plan
        return better

    def raise_bound(self, bound: float) -> None:
        """Note that no plan can cost less than this."""
        self.lower_bound = max(self.lower_bound, float(bound))

    @property
    def plan(self) -> Plan:
        """The best plan so far; whoever asks knows that there is one."""
        assert self.best is not None
        return self.best

    @property
    def proved(self) -> bool:
        """Whether the bound proves the best plan the cheapest there is."""
        return self.plan.cost.total - self.lower_bound <= PROVED * self.plan.cost.total

    @property
    def spent(self) -> bool:
        """Whether the time limit has passed."""
        return time.perf_counter() >= self.deadline

    def report(self, share: float | None, message: str) -> None:
        """Tell whoever watches how far the work is (0 to 1, None where nobody knows)."""
        if self.on_progress is not None:
            self.on_progress(share, message)
