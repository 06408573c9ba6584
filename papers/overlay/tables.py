"""The tables in the README."""

from collections.abc import Mapping, Sequence
from typing import Any

from papers.experiment import Journal, Row
from papers.figures import groups
from papers.overlay.experiments import REDUCTION
from papers.overlay.means import NAMES, PAPER, reductions, relays, times
from papers.overlay.parameters import (
    ACCESS_TO_CORE,
    ANY_WIDTH,
    COARSE,
    CROWDING,
    METHODS,
    NETWORKS,
    USERS,
    WIDTHS,
)
from papers.readme import cells, markdown, plus_minus


def tables(journal: Journal) -> dict[str, str]:
    """Every table by its name."""
    return {
        "scale": _reductions(journal, "scale", "users", USERS, by_network=True),
        "crowding": _reductions(journal, "crowding", "users to brokers", CROWDING, by_network=True),
        "links": _reductions(journal, "links", NAMES["ratio"], ACCESS_TO_CORE),
        "width": _reductions(journal, "width", NAMES["width"], WIDTHS),
        "channels": _reductions(journal, "channels", NAMES["channels"], COARSE),
        "relays": _relays(relays(journal)),
        "times": _times(times(journal)),
    }


def _reductions(
    journal: Journal, experiment: str, x: str, values: Sequence[float], by_network: bool = False
) -> str:
    """A line to each method, a column to each value of ``x``; in brackets the number of networks."""
    rows = _in_order(reductions(journal, experiment, x, by_network))
    by = ["network", "method"] if by_network else ["method"]
    lines = ([*group, *cells(found, x, values, _reduction)] for group, found in groups(rows, by).items())
    return markdown([*by, *map("{:g}".format, values)], lines)


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """The kind of network that we trust more first; greedy packing first and the bound last."""
    return sorted(rows, key=lambda row: (_place(row, "network", NETWORKS), _place(row, "method", METHODS)))


def _place(row: Row, name: str, order: Sequence[str]) -> int:
    return order.index(row[name]) if name in row else 0


def _reduction(row: Mapping[str, Any]) -> str:
    return f"{plus_minus(row, REDUCTION, 2)} ({row['runs']})"


def _relays(rows: Sequence[Row]) -> str:
    widths = (*WIDTHS, ANY_WIDTH)
    lines = (
        [network, *cells(found, NAMES["width"], widths, _relayed)]
        for (network,), found in groups(_in_order(rows), ["network"]).items()
    )
    return markdown(["relays save %, subscriptions of width", *map("{:g}".format, WIDTHS), "any"], lines)


def _relayed(row: Mapping[str, Any]) -> str:
    return f"{plus_minus(row, 'relays save %', 3)} ({row['runs']})"


def _times(rows: Sequence[Row]) -> str:
    """The methods' seconds beside those in the paper, which has none of ours."""
    lines = (
        [method, *cells(found, "network", NETWORKS, _seconds), _paper_seconds(found[0])]
        for (method,), found in groups(_in_order(rows), ["method"]).items()
    )
    return markdown(["method", *NETWORKS, "the paper"], lines)


def _seconds(row: Mapping[str, Any]) -> str:
    return f"{row['seconds']:.2g} s ({row['runs']})"


def _paper_seconds(row: Row) -> str:
    return f"{row[PAPER]:.5g} s" if row[PAPER] else "–"
