"""How every benchmark measures and reports: warm, best of several, the figure beside its goal."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table


def seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """The least time of several runs, after one that warms up: what the work costs on a quiet machine."""
    work()
    return min(once(work) for _ in range(repeat))


def side_by_side(
    ours: Callable[[], object], baseline: Callable[[], object], repeat: int = 5
) -> tuple[float, float]:
    """Times of two works whose runs alternate, so that a noisy neighbour disturbs both alike."""
    ours()
    baseline()
    pairs = [(once(ours), once(baseline)) for _ in range(repeat)]
    return min(first for first, _ in pairs), min(second for _, second in pairs)


def once(work: Callable[[], object]) -> float:
    """How long a single run takes, cold or warm."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@dataclass
class Report:
    """A table of what was measured; ``add`` a row for every goal, then ``show``."""

    title: str
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, work: str, goal: str, measured: str, met: bool | None) -> None:
        """``met`` is None where a figure has no goal."""
        self.rows.append((work, goal, measured, {True: "met", False: "NOT MET", None: ""}[met]))

    def add_time(self, work: str, goal: float, measured: float, note: str = "") -> None:
        self.add(work, f"<= {readable(goal)}", f"{readable(measured)} {note}".strip(), measured <= goal)

    def show(self) -> None:
        table = Table("work", "goal", "measured", "", title=self.title)
        for row in self.rows:
            table.add_row(*row)
        Console(width=150).print(table)


def readable(value: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
