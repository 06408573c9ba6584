"""One conversion, start to end: the content in, files and what they cost out."""

import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from polycast.convert import registry
from polycast.convert.messages import Answer, Request
from polycast.convert.pool import Pool
from polycast.convert.task import Limits
from polycast.errors import Crashed, TooLarge
from polycast.model.format import Format


class Rendition(NamedTuple):
    """Content in one form: its file, its SHA-256, and what making it cost."""

    format: str
    path: Path
    digest: str
    size: int
    cpu_seconds: float


class Made(NamedTuple):
    """What one run has made: a file for every form, in the order asked; gone when the run is left."""

    paths: tuple[Path, ...]
    answer: Answer


def run(
    source: Format,
    target: Format,
    content: bytes | Path,
    into: Path,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Rendition:
    """Make one form of the content, by the tool that the registry has for it, as a file ``into`` a folder.

    Give a ``pool`` where there is more than one conversion to make: its workers are warm.
    """
    return run_many(source, [target], content, into, limits, pool)[0]


def run_many(
    source: Format,
    targets: Sequence[Format],
    content: bytes | Path,
    into: Path,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> list[Rendition]:
    """Make several forms that one tool makes, reading the content once; each bears an equal share of the cost."""
    into.mkdir(parents=True, exist_ok=True)
    with (
        nullcontext(pool) if pool else Pool(1, warm=()) as workers,
        made(workers, source, targets, content, limits or Limits()) as result,
    ):
        share = result.answer.cpu_seconds / len(targets)
        return [_keep(format, path, into, share) for format, path in zip(targets, result.paths, strict=True)]


@contextmanager
def made(
    pool: Pool,
    source: Format,
    targets: Sequence[Format],
    content: bytes | Path,
    limits: Limits,
    cancelled: threading.Event | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Made]:
    """Have one run of one tool make every target; the files stay for as long as the context."""
    entry = _one_entry(source, targets)
    _check_size(content, limits)
    with pool.private_folder() as folder:
        request = Request(entry, str(_given(content, folder)), source, tuple(targets), str(folder), limits)
        answer = pool.run(request, cancelled, progress).check()
        paths = tuple(folder / f"output-{number}" for number in range(len(targets)))
        for format, path in zip(targets, paths, strict=True):
            if path.is_symlink() or not path.is_file():
                raise Crashed(f'the tool wrote no "{format.name}"')
        if sum(path.stat().st_size for path in paths) >= limits.output:  # the system cuts files at the limit
            raise TooLarge(f"more than {limits.output} bytes written")
        yield Made(paths, answer)


def _one_entry(source: Format, targets: Sequence[Format]) -> str:
    entries = {registry.find(source, target).entry for target in targets}
    if len(entries) != 1:
        raise ValueError("one run takes one tool")
    return entries.pop()


def _check_size(content: bytes | Path, limits: Limits) -> None:
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size > limits.input:
        raise TooLarge(f"{size} bytes of content are more than {limits.input}")


def _given(content: bytes | Path, folder: Path) -> Path:
    if isinstance(content, Path):
        return content.resolve()
    given = folder / "content"
    given.write_bytes(content)
    return given


def _keep(format: Format, file: Path, into: Path, cpu_seconds: float) -> Rendition:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    size = file.stat().st_size
    path = into / digest
    moved = into / f".{digest}.{file.parent.name}"
    shutil.move(file, moved)
    moved.replace(path)
    return Rendition(format.name, path, digest, size, cpu_seconds)
