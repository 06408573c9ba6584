"""What the experiments have measured, as means over networks."""

from collections.abc import Sequence
from typing import Any

from papers.experiment import Journal, Row
from papers.figures import averages
from papers.overlay.experiments import LITERAL, REDUCTION
from papers.overlay.parameters import THEIRS, USERS

# Seconds in the paper's Table I: C++ without optimisation, 10,000 users and 100 brokers.
PAPER_SECONDS = {"greedy": 91.445, "cluster": 100.235, "mix": 179.654}

PAPER = "paper's seconds"

ABOVE = "above the lower bound %"

NAMES = {
    "ratio": "access-to-core cost ratio",
    "width": "width of a subscription",
    "channels": "channels (T)",
}


def reductions(journal: Journal, experiment: str, x: str, by_network: bool = False) -> list[Row]:
    """What each method saves, and how it stands to the others, for each value of ``x``."""
    return averages(
        [_readable(row) for row in _compared(journal.rows(experiment))],
        [*(["network"] if by_network else []), x, "method"],
        [REDUCTION, LITERAL, ABOVE, "access", "core", "total", *map(_cheaper_than, THEIRS)],
    )


def _compared(rows: Sequence[Row]) -> list[Row]:
    """Beside each method's cost on a network, how it stands to the bound and to the paper's methods there."""
    cost: dict[Any, dict[str, float]] = {}
    for row in rows:
        cost.setdefault(_where(row), {})[row["method"]] = row["total"]
    return [{**row, **_standing(row, cost[_where(row)])} for row in rows]


def _where(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in ("seed", "users", "brokers", "network", "ratio", "width", "channels"))


def _standing(row: Row, cost: dict[str, float]) -> Row:
    mine = row["total"]
    others = {method: cost[method] for method in THEIRS if method in cost and method != row["method"]}
    above = {ABOVE: 100 * (mine / cost["bound"] - 1)} if "bound" in cost else {}
    return above | {_cheaper_than(method): 100.0 * (mine < other) for method, other in others.items()}


def _cheaper_than(method: str) -> str:
    return f"cheaper than {method} % of networks"


def _readable(row: Row) -> Row:
    """The row under the names that readers know."""
    named = {NAMES.get(name, name): value for name, value in row.items()}
    return {**named, "users to brokers": row["users"] // row["brokers"]}


def times(journal: Journal) -> list[Row]:
    """The paper's Table I again."""
    largest = [row for row in journal.rows("scale") if row["users"] == USERS[-1] and "seconds" in row]
    rows = averages(largest, ["network", "method"], ["seconds"])
    for row in rows:
        paper = PAPER_SECONDS.get(row["method"])
        row[PAPER] = paper if paper is not None else ""
    return rows


def relays(journal: Journal) -> list[Row]:
    """What the core would save if trees might use relays."""
    rows = [_readable(row) for row in journal.rows("relays")]
    measured = ["core", "core with relays", "relays save %"]
    return averages(rows, ["network", NAMES["width"]], measured)
