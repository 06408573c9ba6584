"""Tables and pictures of what the experiments have measured."""

from collections.abc import Sequence
from pathlib import Path

from papers.ccd.experiments import SIMPLE
from papers.ccd.means import PERCENT, endings, heterogeneity, quality, savings, selection, trees
from papers.ccd.parameters import LARGE, SMALL, WEIGHTS
from papers.experiment import Journal, Row
from papers.figures import Panel, draw, write_csv


def report(journal: Journal, out: Path) -> None:
    """One table and one picture to a question."""
    for part in (_savings, _quality, _selection, _trees, _heterogeneity):
        part(journal, out)


def _savings(journal: Journal, out: Path) -> None:
    rows = savings(journal)
    write_csv(out / "savings.csv", rows)
    draw(
        out / "savings.png",
        [
            Panel(
                f"{graph}, {method}: over {over}", found, "matching ratio %", [f"saving over {over} %"], line="α/β"
            )
            for graph, method in ((SMALL, "exact"), (LARGE, "refine"), (LARGE, "exact"))
            for over in ("all-in-leaves", "all-in-root")
            if (found := _those(rows, graph=graph, method=method, scaling="mean"))
        ],
        "saving %",
        columns=2,
    )
    draw(
        out / "initial-plans.png",
        [
            Panel(
                f"α/β = {weight}",
                _those(rows, graph=LARGE, method="refine", scaling="mean", **{"α/β": weight}),
                "matching ratio %",
                SIMPLE,
            )
            for weight in WEIGHTS
        ],
        "cost",
    )


def _quality(journal: Journal, out: Path) -> None:
    rows = quality(journal)
    write_csv(out / "quality.csv", rows)
    draw(
        out / "quality.png",
        [
            Panel(
                f"{graph}, regions of depth {depth}",
                _those(rows, graph=graph, depth=depth),
                "round",
                ["above the optimum %"],
                line="matching ratio %",
                scale="symlog",
            )
            for graph, depth in ((SMALL, 1), (LARGE, 1), (LARGE, 2))
        ],
        "above the optimum %",
    )


def _selection(journal: Journal, out: Path) -> None:
    rows = selection(journal)
    write_csv(out / "selection.csv", rows)
    ratios = sorted({row["matching ratio %"] for row in rows})
    draw(
        out / "selection.png",
        [
            Panel(
                f"{ratio} % match",
                _those(rows, **{"matching ratio %": ratio}),
                "round",
                ["improvement %"],
                line="select",
            )
            for ratio in ratios
        ],
        "improvement over the first plan %",
    )
    write_csv(out / "endings.csv", endings(journal))


def _trees(journal: Journal, out: Path) -> None:
    rows = trees(journal)
    write_csv(out / "trees.csv", rows)
    draw(
        out / "trees.png",
        [Panel(graph, _those(rows, graph=graph), "matching ratio %", PERCENT) for graph in (SMALL, LARGE)],
        "% of the plan on the discovered tree",
    )


def _heterogeneity(journal: Journal, out: Path) -> None:
    rows = heterogeneity(journal)
    write_csv(out / "heterogeneity.csv", rows)
    kinds = sorted({(row["kind"], row["floor"]) for row in rows})
    draw(
        out / "heterogeneity.png",
        [
            Panel(
                kind if kind == "strong" else f"{kind}, no link below {floor} Mb/s",
                _those(rows, kind=kind, floor=floor),
                "matching ratio %",
                ["reduction %"],
                line="method",
            )
            for kind, floor in kinds
        ],
        "reduction by knowing the costs %",
    )


def _those(rows: Sequence[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]
