"""How every experiment here runs: resumable, with a progress bar; its numbers as CSV, its pictures as PNG.

An experiment is a list of :class:`Run` and a function that carries one out and returns rows of what it measured.
:func:`carry_out` keeps the rows in a :class:`Journal`, so that what was interrupted goes on where it stopped;
:func:`averages` makes of them the table that :func:`write_csv` and :func:`draw` show. :func:`main` is all of it.
"""

import argparse
import csv
import gzip
import itertools
import json
import math
import statistics
import sys
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
Wave = Callable[[int], Iterable[Run]]  # some of the runs of a seed


def in_waves(waves: Sequence[Wave], count: int, milestones: Sequence[int] = ()) -> Iterator[Run]:
    """The runs of so many seeds, in an order that may be stopped early.

    Up to each milestone every wave is done with all seeds before any seed beyond it, so that no setting is left
    without some; the waves that are quick stand first.
    """
    stops = [*(stop for stop in milestones if stop < count), count]
    for start, stop in itertools.pairwise([0, *stops]):
        for wave in waves:
            for seed in range(start + 1, stop + 1):
                yield from wave(seed)


class Journal:
    """The runs done so far, a line of JSON to each; a line that was cut short does not count.

    Runs are appended to a file of their own until :meth:`pack` puts all of them into a small one, which is kept
    with the results, so that anybody can go on from there.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.packed = path, path.with_suffix(".jsonl.gz")
        self.done: dict[str, list[Row]] = {}
        if self.packed.exists():
            self.unpack(self.packed)
        if path.exists():
            self._read(path.read_text())
            path.write_text(self._lines(self.done))

    def record(self, run: Run, rows: Sequence[Row]) -> None:
        """Keep what a run has measured."""
        self.done[run.key] = [{name: _rounded(value) for name, value in row.items()} for row in rows]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(self._lines([run.key]))

    def rows(self, experiment: str) -> list[Row]:
        """Everything that an experiment has measured, with its settings and seeds beside it."""
        runs = ((*json.loads(key), rows) for key, rows in self.done.items())
        return [
            {"experiment": name, "seed": seed, **setting, **row}
            for name, seed, setting, rows in runs
            if name == experiment
            for row in rows
        ]

    def pack(self) -> None:
        """Put all runs into the small file; it is the same for the same runs."""
        if self.done:
            self.packed.write_bytes(gzip.compress(self._lines(sorted(self.done)).encode(), 9, mtime=0))
            self.path.unlink(missing_ok=True)

    def unpack(self, packed: Path) -> None:
        """Take in the runs of such a file."""
        self._read(gzip.decompress(packed.read_bytes()).decode())

    def _lines(self, keys: Iterable[str]) -> str:
        return "".join(json.dumps({"run": json.loads(key), "rows": self.done[key]}) + "\n" for key in keys)

    def _read(self, lines: str) -> None:
        for line in lines.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.done[json.dumps(entry["run"], sort_keys=True)] = entry["rows"]


def _rounded(value: Any) -> Any:
    """Seven digits are more than any average here has."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


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


@dataclass(frozen=True)
class Experiments:
    """All experiments of a paper: what is run, how one run is carried out, and what is told of it."""

    description: str
    out: Path
    runs: Callable[[int], Iterable[Run]]
    quick_runs: Callable[[], Iterable[Run]]
    work: Work
    report: Callable[[Journal, Path], None]


def main(paper: Experiments, count: int) -> int:
    """The command line of a paper: go on with its runs, ``count`` for every point, and report."""
    given = _arguments(paper, count)
    journal = journal_in(given.out, given.fresh)
    planned = paper.quick_runs() if given.quick else paper.runs(given.runs)
    stopped = False
    try:
        carry_out(() if given.report else planned, paper.work, journal, given.jobs)
    except KeyboardInterrupt:
        stopped = True
        print("stopped; what is done is in the report, and the same command goes on from here", file=sys.stderr)
    paper.report(journal, given.out)
    journal.pack()
    print(f"tables and pictures are in {given.out}")
    return 130 if stopped else 0


def _arguments(paper: Experiments, count: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(f"python -m papers.{paper.out.parent.name}", description=paper.description)
    parser.add_argument("--quick", action="store_true", help="few and small runs, in about a minute")
    parser.add_argument(
        "--runs", type=int, default=count, help=f"runs for every point, with a seed each ({count})"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (1)")
    parser.add_argument("--out", type=Path, default=paper.out, help="the folder for tables and pictures")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs instead of going on with them")
    parser.add_argument("--report", action="store_true", help="tables and pictures of the runs done, and no more")
    given = parser.parse_args()
    if given.runs < 1 or given.jobs < 1:
        parser.error("--runs and --jobs are 1 or more")
    if given.quick and given.out == paper.out:
        given.out = paper.out.with_name(f"{paper.out.name}-quick")
    return given


def journal_in(folder: Path, fresh: bool = False) -> Journal:
    """The journal of a folder of results."""
    path = folder / "journal.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
        path.with_suffix(".jsonl.gz").unlink(missing_ok=True)
    return Journal(path)
