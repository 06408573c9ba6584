"""The tables in the README."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from papers.ccd.means import endings, heterogeneity, quality, savings, selection, trees
from papers.ccd.parameters import FEW_RATIOS, LARGE, RATIOS, SMALL
from papers.experiment import Journal, Row
from papers.figures import groups
from papers.readme import cells, markdown, plus_minus

NETWORKS = "networks"  # the last column everywhere: how many each line is the mean of
GRAPHS = {SMALL: "small", LARGE: "large"}
QUALITY_LOOKS = (0, 1, 10, 20, 50, 100, 200, 500, 1000)
SELECTION_LOOKS = (1, 10, 50, 150, 300, 500)


def tables(journal: Journal) -> dict[str, str]:
    """Every table by its name."""
    return {
        "savings": _savings(savings(journal)),
        "quality": _quality(quality(journal)),
        "selection": _selection(selection(journal)),
        "endings": _endings(endings(journal)),
        "trees": _trees(trees(journal)),
        "heterogeneity": _heterogeneity(heterogeneity(journal)),
    }


def _savings(rows: Sequence[Row]) -> str:
    lines = (
        [_case(*case), f"{weight:g}", *cells(found, "matching ratio %", RATIOS, _saved), _networks(found)]
        for (*case, weight), found in groups(_small_first(rows), ["graph", "method", "scaling", "α/β"]).items()
    )
    return markdown(["graph, method", "α/β", *_percent(RATIOS), NETWORKS], lines)


def _case(graph: str, method: str, scaling: str) -> str:
    return f"{GRAPHS[graph]}, {method}" + (", scaled as `paper`" if scaling == "paper" else "")


def _saved(row: Mapping[str, Any]) -> str:
    """Over one simple plan and over the other."""
    return " / ".join(f"{row[f'saving over {name} %']:z.1f}" for name in ("all-in-leaves", "all-in-root"))


def _quality(rows: Sequence[Row]) -> str:
    lines = (
        [
            GRAPHS[graph] + (f", depth {depth}" if depth > 1 else ""),
            f"{ratio} %",
            *_by_round(found, QUALITY_LOOKS, "above the optimum %", 2),
            _networks(found),
        ]
        for (graph, depth, ratio), found in groups(
            _small_first(rows), ["graph", "depth", "matching ratio %"]
        ).items()
    )
    return markdown(["graph", "match", *map(str, QUALITY_LOOKS), NETWORKS], lines)


def _selection(rows: Sequence[Row]) -> str:
    slack_first = sorted(rows, key=lambda row: (row["matching ratio %"], row["select"] != "slack"))
    lines = (
        [f"{ratio} %", select.upper(), *_by_round(found, SELECTION_LOOKS, "improvement %", 1), _networks(found)]
        for (ratio, select), found in groups(slack_first, ["matching ratio %", "select"]).items()
    )
    return markdown(["match", "", *map(str, SELECTION_LOOKS), NETWORKS], lines)


def _by_round(rows: Sequence[Row], looks: Sequence[int], measure: str, digits: int) -> list[str]:
    """A mean for each round, the last with its interval."""
    *early, last = looks
    return [
        *cells(rows, "round", early, lambda row: f"{row[measure]:z.1f}"),
        *cells(rows, "round", [last], partial(plus_minus, measure=measure, digits=digits)),
    ]


def _endings(rows: Sequence[Row]) -> str:
    lines = (
        [
            f"{row['matching ratio %']} %",
            *(plus_minus(row, select, 0) for select in ("slack", "random")),
            plus_minus(row, "random above slack %", 2, "+"),
            _networks([row]),
        ]
        for row in rows
    )
    return markdown(["match", "SLACK costs", "RANDOM costs", "RANDOM above SLACK %", NETWORKS], lines)


def _trees(rows: Sequence[Row]) -> str:
    lines = (
        [
            GRAPHS[row["graph"]],
            f"{row['matching ratio %']} %",
            f"{row['same parent %']:.0f}",
            f"{row['brokers discovered']:.0f} / {row['brokers estimated']:.0f}",
            f"{row['probes']:.0f}",
            f"{row['probes cost %']:.2f}",
            f"{row['estimated plan supposes %']:+.1f}",
            plus_minus(row, "estimated plan costs %", 1, "+"),
            _networks([row]),
        ]
        for row in _small_first(rows)
    )
    agree = ["parents that agree %", "brokers, real / supposed"]
    cost = ["probes", "probes cost %", "the plan supposes %", "the plan costs %"]
    return markdown(["graph", "match", *agree, *cost, NETWORKS], lines)


def _heterogeneity(rows: Sequence[Row]) -> str:
    reduction = partial(plus_minus, measure="reduction %", digits=1)
    ours_last = sorted(rows, key=lambda row: (row["kind"], row["floor"], row["method"] != "refine"))
    lines = (
        [
            kind + (f", {floor:g} Mb/s at least" if floor else ""),
            method,
            *cells(found, "matching ratio %", FEW_RATIOS, reduction),
            _networks(found),
        ]
        for (kind, floor, method), found in groups(ours_last, ["kind", "floor", "method"]).items()
    )
    return markdown(["kind", "plans by", *_percent(FEW_RATIOS), NETWORKS], lines)


def _small_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: list(GRAPHS).index(row["graph"]))


def _percent(ratios: Sequence[int]) -> list[str]:
    return [f"{ratio} %" for ratio in ratios]


def _networks(rows: Sequence[Row]) -> str:
    """The fewest and the most that stand behind a line."""
    runs = {row["runs"] for row in rows}
    return f"{min(runs)}" if len(runs) == 1 else f"{min(runs)} to {max(runs)}"
