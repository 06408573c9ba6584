"""What runs have measured, as others see it: averages, their tables as CSV, their pictures as PNG."""

import csv
import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.experiment import Row


def averages(rows: Iterable[Row], by: Sequence[str], measured: Sequence[str]) -> list[Row]:
    """For every setting the number of runs, and of each measure its mean and half its 95 % interval."""
    return [
        dict(zip(by, group, strict=True))
        | {"runs": len(members)}
        | {name: value for measure in measured for name, value in _mean_of(members, measure)}
        for group, members in sorted(groups(rows, by).items())
    ]


def groups(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of every setting, in the order in which settings come."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return found


def _mean_of(rows: Sequence[Row], measure: str) -> Iterator[tuple[str, float]]:
    values = [row[measure] for row in rows if measure in row]
    yield measure, statistics.fmean(values) if values else math.nan
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    yield f"{measure} ±", 1.96 * spread / math.sqrt(max(1, len(values)))


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """A table, numbers to five digits; nothing is written where there is nothing to say."""
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else f"{value:.5g}"


@dataclass(frozen=True)
class Panel:
    """One picture: a line for each value of ``line``, of the measure ``y`` over ``x``."""

    title: str
    rows: Sequence[Row]
    x: str
    y: Sequence[str]
    line: str | None = None
    scale: str = "linear"  # of x, as matplotlib names it

    def lines(self) -> Iterator[tuple[str, list[float], list[float], list[float]]]:
        """Of each line its label, its points, and half the interval around every point."""
        names = sorted({row[self.line] for row in self.rows}) if self.line else [None]
        for name in names:
            rows = [row for row in self.rows if self.line is None or row[self.line] == name]
            for y in self.y:
                label = " · ".join(
                    str(part) for part in (name, y if len(self.y) > 1 else None) if part is not None
                )
                yield label, *([row[name] for row in rows] for name in (self.x, y, f"{y} ±"))


def draw(path: Path, panels: Sequence[Panel], ylabel: str, columns: int = 3) -> None:
    """Panels in one file, so many to a row; panels without rows of numbers are left out."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [panel for panel in panels if panel.rows]
    if not panels:
        return
    columns = min(columns, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(5.2 * columns, 3.4 * lines), squeeze=False)
    for axes, panel in itertools.zip_longest(grid.ravel(), panels):
        if panel is None:
            axes.remove()
        else:
            _fill(axes, panel)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)


def _fill(axes: Any, panel: Panel) -> None:
    for label, xs, ys, spreads in panel.lines():
        axes.plot(xs, ys, marker="o" if len(xs) < 30 else None, markersize=3, label=label)
        low, high = ([y + sign * spread for y, spread in zip(ys, spreads, strict=True)] for sign in (-1, 1))
        axes.fill_between(xs, low, high, alpha=0.2, color=axes.lines[-1].get_color(), linewidth=0)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x)
    axes.grid(alpha=0.3)
    axes.set_xscale(panel.scale)
    if panel.scale == "log":
        xs = sorted({row[panel.x] for row in panel.rows})
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
    if panel.line or len(axes.lines) > 1:
        axes.legend(fontsize=7, title=panel.line, title_fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
