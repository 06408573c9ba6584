"""Runs single conversions to see what they cost: one at a time, by a warm worker, the least of several runs."""

import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import msgspec

from polycast.convert import runner
from polycast.convert.edge_model import Check, Edge
from polycast.convert.messages import Request
from polycast.convert.pool import Pool
from polycast.convert.task import Limits
from polycast.convert.tools.extent import Extent
from polycast.model.format import Format

TELL_EXTENT = "polycast.convert.tools.extent:tell"


class Sample(NamedTuple):
    """A content to measure with, the form that it has, and how much there is of it."""

    path: Path
    form: Format
    extent: Extent


class Taken(NamedTuple):
    """What one sample has told.

    Parameters
    ----------
    sizes, costs
        Megabytes of the forms, CPU seconds of the operators.
    runs
        How many operators were run for it.
    checks
        How far the model was off, by tool.
    failed
        Why an operator could not be run.
    """

    sample: Sample
    sizes: dict[str, float]
    costs: dict[Edge, float]
    runs: int
    checks: dict[str, Check]
    failed: dict[Edge, str]


class Bench:
    """Where conversions are measured.

    Parameters
    ----------
    repeat
        Runs of one operator; the least cost counts.
    """

    def __init__(self, pool: Pool, repeat: int = 2, limits: Limits | None = None) -> None:
        self.pool = pool
        self.repeat = repeat
        self.limits = limits or Limits()
        self.cancelled = threading.Event()

    def sample(self, path: Path, form: Format) -> Sample:
        """A content, once it is known how much there is of it."""
        with self.pool.private_folder() as folder:
            request = Request(TELL_EXTENT, str(path.resolve()), form, (form,), str(folder), self.limits)
            self.pool.run(request, self.cancelled).check()
            extent = msgspec.json.decode((folder / "output-0").read_bytes(), type=Extent)
        return Sample(path, form, extent)

    def cost(self, source: Format, target: Format, content: Path, keep: Path | None = None) -> float:
        """CPU seconds of one conversion. What it makes is kept if there is a place for it."""
        costs = []
        for _ in range(self.repeat):
            made = runner.made(self.pool, source, [target], content, self.limits, self.cancelled)
            with made as result:
                costs.append(result.answer.cpu_seconds)
                if keep is not None and not keep.exists():
                    shutil.move(result.paths[0], keep)
        return min(costs)
