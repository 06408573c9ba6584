"""Conversion: what sandbox, pool and store add to the bare tools, two cores, one reading, and a thousand jobs."""

import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil
from msgspec.structs import replace
from PIL import Image

from benchmarks.table import Report, once, readable, side_by_side
from examples import samples
from polycast.convert import media
from polycast.convert.catalogue import named
from polycast.convert.converter import Converter
from polycast.convert.pool import Pool
from polycast.convert.store import ContentStore
from polycast.convert.task import Limits, Output, Task
from polycast.convert.tools import av, ffmpeg, picture
from polycast.convert.tools.probe import probe
from polycast.model.format import Format

VIDEO_GOAL, IMAGE_GOAL, THROUGHPUT_GOAL = 0.10, 0.020, 0.90
LIGHT = ("3gp-144", "3gp-96", "flv-360", "avi-360", "3gp-288")
VIDEOS, IMAGES = 4, 20
"""Runs to a measurement: the system counts work in hundredths of a second."""
JOBS, SETTLED = 1000, 200
MEGABYTE = 1e6

_numbers = itertools.count()


def main() -> None:
    report = Report("Conversion: beside the bare tools, same files, same run (warm)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip = samples.video(folder / "clip.mp4", seconds=4.0)
        with Converter(ContentStore(folder / "store"), workers=1) as converter:
            for target in ("mp4-540", "3gp-144"):
                _video(report, converter, clip, target)
            _one_reading(report, converter, clip)
            _images(report, converter, folder)
        _two_cores(report, clip, folder)
        _thousand_jobs(report, folder)
    report.show()


def fresh(name: str) -> Format:
    """A form that nobody has asked for yet, so that it is not remembered; the tools see no difference."""
    return replace(named(name), language=f"x{next(_numbers)}")


def bare(clip: Path, names: tuple[str, ...], out: Path) -> Callable[[], object]:
    """The ffmpeg command alone, as the tool would give it."""
    held = probe(clip, media.MP4, Limits())
    command = [*ffmpeg.opening(clip, media.MP4, Limits()), "-y", "-loglevel", "error"]
    for name in names:
        output = Output(named(name), out.with_name(f"{out.name}-{name}"))
        command += [*av.arguments(output, held), "-threads", "1", f"file:{output.path}"]
    return lambda: subprocess.run(command, check=True)


class Cost(NamedTuple):
    """Seconds by the clock, which other programs on the machine lengthen, and of all our processes' work."""

    wall: float
    cpu: float


def cost(work: Callable[[], object], runs: int = 1) -> Cost:
    """What a work costs, in this process, its workers, and all that they have started and ended."""
    before = _processor_time()
    wall = once(lambda: [work() for _ in range(runs)])
    return Cost(wall / runs, (_processor_time() - before) / runs)


def least(
    ours: Callable[[], object], tool: Callable[[], object], runs: int = 1, repeat: int = 5
) -> tuple[Cost, Cost]:
    """The least of either kind of seconds, of runs that alternate."""
    ours()
    tool()
    pairs = [(cost(ours, runs), cost(tool, runs)) for _ in range(repeat)]
    first, second = (Cost(*map(min, zip(*costs, strict=True))) for costs in zip(*pairs, strict=True))
    return first, second


def _processor_time() -> float:
    """Once all is told: what a run has taken counts for its worker when the run's processes are gone."""
    us = psutil.Process()
    while len(us.children(recursive=True)) > len(us.children()):
        time.sleep(0.001)
    return sum(sum(member.cpu_times()[:4]) for member in (us, *us.children()))


def _video(report: Report, converter: Converter, clip: Path, target: str) -> None:
    digest = converter.store.put(clip)
    ours, tool = least(
        lambda: converter.convert(digest, named("mp4"), fresh(target)),
        bare(clip, (target,), clip.with_name("bare")),
        VIDEOS,
    )
    for kind, sandboxed, alone in zip(("clock", "work"), ours, tool, strict=True):
        over = sandboxed / alone - 1
        report.add(
            f"4 s of video to {target}, over ffmpeg alone ({readable(alone)}): {kind}",
            f"<= {VIDEO_GOAL:.0%}",
            f"{over:.1%} ({readable(max(0.0, sandboxed - alone))})",
            over <= VIDEO_GOAL,
        )


def _one_reading(report: Report, converter: Converter, clip: Path) -> None:
    digest = converter.store.put(clip)

    def together() -> None:
        converter.convert_many(digest, named("mp4"), [fresh(name) for name in LIGHT])

    def apart() -> None:
        for name in LIGHT:
            converter.convert(digest, named("mp4"), fresh(name))

    once_for_all, each = side_by_side(together, apart, repeat=2)
    report.add(
        "five light videos in one reading, beside five readings", "", f"{1 - once_for_all / each:.0%} less", None
    )


def _images(report: Report, converter: Converter, folder: Path) -> None:
    photo = _photo(folder)
    digest, source, target = converter.store.put(photo), named("jpg"), named("jpg-320")
    task = Task(photo, source, (Output(target, folder / "small"),), Limits(), list[float]().append)

    ours, tool = least(
        lambda: converter.convert(digest, source, fresh("jpg-320")), lambda: picture.convert(task), IMAGES
    )
    for kind, sandboxed, alone in zip(("clock", "work"), ours, tool, strict=True):
        name = f"a small picture, over pillow in this process ({readable(alone)}): {kind}"
        report.add_time(name, IMAGE_GOAL, sandboxed - alone, "a job")


def _photo(folder: Path) -> Path:
    path = folder / "photo.jpg"
    Image.effect_noise((640, 480), 60).convert("RGB").save(path)
    return path


def _two_cores(report: Report, clip: Path, folder: Path) -> None:
    """On every core there is, however few we were given."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    runs = 4
    commands = [bare(clip, ("mp4-360",), folder / f"side-{number}") for number in range(runs)]
    with Converter(ContentStore(folder / "two"), workers=2) as converter, ThreadPoolExecutor(2) as threads:
        digest = converter.store.put(clip)

        def ours() -> None:
            futures = [converter.submit(digest, named("mp4"), fresh("mp4-360")) for _ in range(runs)]
            for future in futures:
                future.result()

        def tools() -> None:
            for future in [threads.submit(command) for command in commands]:
                future.result()

        sandboxed, alone = side_by_side(ours, tools, repeat=3)
    share = alone / sandboxed
    report.add(
        "two cores: videos a second, beside two ffmpegs side by side",
        f">= {THROUGHPUT_GOAL:.0%}",
        f"{share:.0%}",
        share >= THROUGHPUT_GOAL,
    )


def _thousand_jobs(report: Report, folder: Path) -> None:
    """What is left while the pool lives, and after it: two workers throughout, and nothing at the end."""
    us, photo, scratch = psutil.Process(), _photo(folder), folder / "scratch"
    files_before, family_before = us.num_fds(), len(us.children(recursive=True))
    pool = Pool(2, scratch=scratch, jobs_per_worker=JOBS)
    with Converter(ContentStore(folder / "thousand"), pool=pool) as converter:
        digest = converter.store.put(photo)

        def work(jobs: int) -> None:
            for future in [converter.submit(digest, named("jpg"), fresh("jpg-160")) for _ in range(jobs)]:
                future.result()

        work(SETTLED)
        before, family = _memory(us), len(us.children(recursive=True))
        files = us.num_fds()
        taken = once(lambda: work(JOBS))
        grown = _memory(us) - before
        more = len(us.children(recursive=True)) - family, us.num_fds() - files, len(list(scratch.glob("*/run-*")))
    left = (
        len(us.children(recursive=True)) - family_before,
        us.num_fds() - files_before,
        len(list(scratch.iterdir())),
    )
    counts = "{} processes, {} open files, {} files"
    report.add(
        f"{JOBS:,} jobs: added while the pool lives", counts.format(0, 0, 0), counts.format(*more), not any(more)
    )
    report.add(f"{JOBS:,} jobs: left after it", counts.format(0, 0, 0), counts.format(*left), not any(left))
    report.add(
        f"{JOBS:,} jobs: memory, ours and the workers'", "<= 4 MB", f"{grown / MEGABYTE:.1f} MB", grown <= 4e6
    )
    report.add(f"{JOBS:,} jobs on two cores", "", f"{JOBS / taken:.0f} a second", None)


def _memory(process: psutil.Process) -> int:
    family = (process, *process.children(recursive=True))
    return sum(int(member.memory_full_info().uss) for member in family)


if __name__ == "__main__":
    main()
