"""``polycast calibrate``: measure what forms weigh and what conversions cost, and write a content graph."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polycast.cli import streams
from polycast.cli.convert import LimitOption
from polycast.errors import BadInput

if TYPE_CHECKING:
    from polycast.convert.calibrate import Calibration


def calibrate(
    samples: Annotated[
        list[Path], typer.Argument(metavar="SAMPLE...", help="Contents like those to be published.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="The graph file; - for standard output.")] = "-",
    formats: Annotated[
        str | None, typer.Option(help="Only these formats, with commas between them; by default all that apply.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="The formats and operators of this content graph: a name, or a path.")
    ] = None,
    every_edge: Annotated[
        bool, typer.Option("--every-edge", help="Run every operator, rather than some of them.")
    ] = False,
    repeat: Annotated[int, typer.Option(min=1, help="Runs of each operator; the least cost counts.")] = 2,
    limit: LimitOption = None,
) -> None:
    """Measure, on samples, how large each format is and what each operator costs.

    Writes a content graph for `polycast place` and for network files: sizes in megabytes, costs in CPU seconds,
    and both per second of media or per page. Where a tool has many operators, some are run, and the rest is told
    by a model, decoding plus encoding and a little for scaling, whose error is measured and reported.
    docs/conversion.md tells more.
    """
    from polycast.convert import graphs
    from polycast.convert.bench import Bench
    from polycast.convert.calibrate import calibrate as measure
    from polycast.convert.calibrate import every_form, open_sample
    from polycast.convert.pool import Pool
    from polycast.convert.task import read_limits

    if formats is not None and like is not None:
        raise BadInput("--formats", "stands in place of --like; give one or the other")
    template = None if like is None else graphs.load(like)
    limits = read_limits(limit or [])
    with Pool(1) as pool, streams.progress() as show:
        bench = Bench(pool, repeat, limits)
        opened = [open_sample(bench, path, template) for path in samples]
        wanted = template or every_form(opened, formats.split(",") if formats else ())
        done = measure(bench, opened, wanted, every_edge, show)
    lines = _how(samples, done, repeat)
    streams.write_whole([graphs.written(done.graph, "; ".join(lines))], out)
    print("\n".join([*lines, *_failures(done)]), file=sys.stderr)


def _how(samples: Sequence[Path], done: "Calibration", repeat: int) -> list[str]:
    """How the graph came about, which is also written into it."""
    run = sum(one.runs for one in done.taken)
    graph = done.graph
    return [
        f"measured on {', '.join(path.name for path in samples)}, {time.strftime('%Y-%m-%d')}",
        f"{len(graph.formats)} formats, {len(graph.operators)} operators, {run} conversions run, best of {repeat}",
        *(
            f"{tool}: decoding + encoding is off by {off.median:.1%} at the median of {off.edges} other operators "
            f"that were run, {off.worst:.1%} at worst, R² {off.r2:.3f}"
            for one in done.taken
            for tool, off in one.checks.items()
        ),
    ]


def _failures(done: "Calibration") -> list[str]:
    return [
        f"left out: {source} → {target}: {why}"
        for one in done.taken
        for (source, target), why in one.failed.items()
    ]
