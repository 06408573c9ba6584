"""How every experiment here runs: resumable, with a progress bar; its numbers as CSV, its pictures as PNG.

An experiment is a list of :class:`Run` and a function that carries one out and returns rows of what it measured.
:func:`carry_out` keeps the rows in a :class:`Journal`, so that what was interrupted goes on where it stopped;
:func:`averages` makes of them the table that :func:`write_csv` and :func:`draw` show.
"""

import argparse
import csv
import itertools
import json
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One run of an experiment: its setting, and the seed that everything random in it comes from."""

    experiment: str
    seed: int
    setting: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells this run from every other."""
        return json.dumps([self.experiment, self.seed, self.setting], sort_keys=True)


Work = Callable[[Run], list[Row]]


class Journal:
    """The runs done so far, a line of JSON to each; a line that was cut short does not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, list[Row]] = {}
        if path.exists():
            self._read()

    def record(self, run: Run, rows: Sequence[Row]) -> None:
        """Keep what a run has measured, with its experiment, setting and seed beside it."""
        named = [{"experiment": run.experiment, "seed": run.seed, **run.setting, **row} for row in rows]
        self.done[run.key] = named
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"key": run.key, "rows": named}) + "\n")

    def rows(self, experiment: str) -> list[Row]:
        """Everything that an experiment has measured."""
        return [row for rows in self.done.values() for row in rows if row["experiment"] == experiment]

    def _read(self) -> None:
        whole = []
        for line in self.path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.done[entry["key"]] = entry["rows"]
            whole.append(line + "\n")
        self.path.write_text("".join(whole))


def carry_out(runs: Iterable[Run], work: Work, journal: Journal, jobs: int = 1) -> None:
    """Do all runs that the journal does not have yet, in their order, ``jobs`` at a time."""
    waiting = [run for run in runs if run.key not in journal.done]
    with _progress() as progress:
        task = progress.add_task("", total=len(waiting))
        for run, rows in _results(waiting, work, jobs):
            journal.record(run, rows)
            progress.update(task, advance=1, description=run.experiment)


def _progress() -> Progress:
    """A bar on standard error, for a person only."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def _results(runs: Sequence[Run], work: Work, jobs: int) -> Iterator[tuple[Run, list[Row]]]:
    if jobs == 1:
        for run in runs:
            yield run, work(run)
        return
    with ProcessPoolExecutor(jobs) as pool:
        try:
            done = {pool.submit(work, run): run for run in runs}
            for future in as_completed(done):
                yield done[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def averages(rows: Iterable[Row], by: Sequence[str], measured: Sequence[str]) -> list[Row]:
    """For every setting the number of runs, and of each measure its mean and half its 95 % interval."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return [
        dict(zip(by, group, strict=True))
        | {"runs": len(members)}
        | {name: value for measure in measured for name, value in _mean_of(members, measure)}
        for group, members in sorted(groups.items())
    ]


def _mean_of(rows: Sequence[Row], measure: str) -> Iterator[tuple[str, float]]:
    values = [row[measure] for row in rows]
    yield measure, statistics.fmean(values)
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    yield f"{measure} ±", 1.96 * spread / math.sqrt(len(values))


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
    logarithmic: bool = False

    def lines(self) -> Iterator[tuple[str, list[float], list[float]]]:
        names = sorted({row[self.line] for row in self.rows}) if self.line else [None]
        for name in names:
            rows = [row for row in self.rows if self.line is None or row[self.line] == name]
            for y in self.y:
                label = " · ".join(
                    str(part) for part in (name, y if len(self.y) > 1 else None) if part is not None
                )
                yield label, [row[self.x] for row in rows], [row[y] for row in rows]


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
    figure, grid = pyplot.subplots(lines, columns, figsize=(4.6 * columns, 3.6 * lines), squeeze=False)
    for axes, panel in itertools.zip_longest(grid.ravel(), panels):
        if panel is None:
            axes.remove()
        else:
            _fill(axes, panel)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def _fill(axes: Any, panel: Panel) -> None:
    for label, xs, ys in panel.lines():
        axes.plot(xs, ys, marker="o" if len(xs) < 30 else None, markersize=3, label=label)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x)
    axes.grid(alpha=0.3)
    if panel.logarithmic:
        axes.set_xscale("symlog")
    if len(axes.lines) > 1:
        axes.legend(fontsize=7, title=panel.line, title_fontsize=7)


def arguments(description: str, out: Path, runs: int) -> argparse.Namespace:
    """What every experiment may be told on its command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="few and small runs, in about a minute")
    parser.add_argument("--runs", type=int, default=runs, help=f"runs for every point, with a seed each ({runs})")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (1)")
    parser.add_argument("--out", type=Path, default=out, help="the folder for tables and pictures")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs instead of going on with them")
    given = parser.parse_args()
    if given.runs < 1 or given.jobs < 1:
        parser.error("--runs and --jobs are 1 or more")
    if given.quick and given.out == out:
        given.out = out.with_name(f"{out.name}-quick")
    return given


def journal_in(folder: Path, fresh: bool) -> Journal:
    """The journal of a folder of results."""
    path = folder / "journal.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
    return Journal(path)
