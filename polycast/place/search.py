"""What a placement method reports while it works, and how it learns that it should stop."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from polycast.model.plan import Plan
from polycast.model.problem import Problem


@dataclass(frozen=True)
class Options:
    """What the methods may be told; each reads what concerns it."""

    iterations: int = 500
    select: str = "slack"
    depth: int = 1
    start: str = "best"
    seed: int = 0
    history: bool = False


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
        self.lower_bound = max(self.lower_bound, bound)

    @property
    def spent(self) -> bool:
        """Whether the time limit has passed."""
        return time.perf_counter() >= self.deadline

    def report(self, share: float | None, message: str) -> None:
        """Tell whoever watches how far the work is (0 to 1, None where nobody knows)."""
        if self.on_progress is not None:
            self.on_progress(share, message)
