"""How every experiment here runs: resumable, with a progress bar, and with a report in the end.

An experiment is a list of :class:`Run` and a function that carries one out and returns rows of what it measured.
:func:`carry_out` keeps the rows in a :class:`Journal`, so that what was interrupted goes on where it stopped;
:func:`main` is the command that does both, and reports with the tables and pictures of `papers.figures` and, for
the results that are kept, of the README beside them.
"""

import argparse
import gzip
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from papers.readme import with_tables

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

    def forget(self, method: str) -> None:
        """Drop the runs of a method, for good; it has changed since."""
        self.done = {key: rows for key, rows in self.done.items() if json.loads(key)[2].get("method") != method}
        self.pack()

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


@dataclass(frozen=True)
class Experiments:
    """All experiments of a paper: what is run, how one run is carried out, and what is told of it."""

    description: str
    out: Path
    runs: Callable[[int], Iterable[Run]]
    quick_runs: Callable[[], Iterable[Run]]
    work: Work
    report: Callable[[Journal, Path], None]
    tables: Callable[[Journal], Mapping[str, str]]  # of the README, by their names there

    def write_tables(self, journal: Journal) -> None:
        """Say in the README what has been measured."""
        readme = self.out.with_name("README.md")
        readme.write_text(with_tables(readme.read_text(), self.tables(journal)))


def main(paper: Experiments, count: int) -> int:
    """The command line of a paper: go on with its runs, ``count`` for every point, and report."""
    given = _arguments(paper, count)
    journal = journal_in(given.out, given.fresh)
    for method in given.forget:
        journal.forget(method)
    planned = paper.quick_runs() if given.quick else paper.runs(given.runs)
    stopped = False
    try:
        carry_out(() if given.report else planned, paper.work, journal, given.jobs)
    except KeyboardInterrupt:
        stopped = True
        print("stopped; what is done is in the report, and the same command goes on from here", file=sys.stderr)
    paper.report(journal, given.out)
    if given.out.resolve() == paper.out.resolve():
        paper.write_tables(journal)
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
    parser.add_argument(
        "--forget", action="append", default=[], metavar="METHOD", help="do a method's runs again: it has changed"
    )
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
