"""What the experiments have measured, as means over networks."""

from collections.abc import Sequence

from papers import figures
from papers.ccd.experiments import SIMPLE
from papers.ccd.scene import scaled_graph
from papers.experiment import Journal, Row

OVER = [f"saving over {name} %" for name in SIMPLE]
COUNTS = ["same parent %", "brokers discovered", "brokers estimated", "hops of a supposed link", "probes"]
PERCENT = ["estimated plan supposes %", "estimated plan costs %", "probes cost %"]  # of the optimum
NAMES = {"weight": "α/β", "ratio": "matching ratio %"}


def savings(journal: Journal) -> list[Row]:
    """What CCD saves over the simple plans."""
    return _averages(
        [{**row, "charged for time": _time_charged(row)} for row in journal.rows("savings")],
        ["graph", "method", "scaling", "weight", "ratio"],
        ["cost", "charged for time", *SIMPLE, *OVER, "seconds"],
    )


def _time_charged(row: Row) -> float:
    """The part of a cost that is the algorithm's own time."""
    seconds: float = row["seconds"]
    return seconds * scaled_graph(row["graph"], row["scaling"])[1].second


def quality(journal: Journal) -> list[Row]:
    """How far above the optimum refinement is, round by round."""
    return _averages(journal.rows("quality"), ["graph", "depth", "ratio", "round"], ["above the optimum %"])


def selection(journal: Journal) -> list[Row]:
    """How fast SLACK and RANDOM improve the first plan."""
    return _averages(journal.rows("selection"), ["ratio", "select", "round"], ["improvement %"])


def endings(journal: Journal) -> list[Row]:
    """Where SLACK and RANDOM end."""
    return _averages(journal.rows("endings"), ["ratio"], ["slack", "random", "random above slack %"])


def trees(journal: Journal) -> list[Row]:
    """What plans cost on a discovered tree and on an estimated one."""
    return _averages(journal.rows("trees"), ["graph", "ratio"], [*COUNTS, *PERCENT])


def heterogeneity(journal: Journal) -> list[Row]:
    """What a plan gains from knowing that links and brokers are unlike."""
    return _averages(journal.rows("heterogeneity"), ["kind", "floor", "method", "ratio"], ["reduction %"])


def _averages(rows: Sequence[Row], by: Sequence[str], measured: Sequence[str]) -> list[Row]:
    """Means for every setting, under the names that readers know."""
    found = figures.averages(rows, by, measured)
    return [{NAMES.get(name, name): value for name, value in row.items()} for row in found]
