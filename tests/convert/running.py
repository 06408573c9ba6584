"""Single conversions, by the tool that the registry has for them, without a store."""

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from polycast.convert.pool import Pool
from polycast.convert.runner import made
from polycast.convert.task import Limits
from polycast.model.format import Format


class Rendition(NamedTuple):
    """Content in one form: its file, its SHA-256, and what making it cost."""

    path: Path
    digest: str
    cpu_seconds: float


def run(
    source: Format,
    target: Format,
    content: bytes | Path,
    into: Path,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> Rendition:
    """Make one form of the content, as a file in a folder."""
    return run_many(source, [target], content, into, limits, pool)[0]


def run_many(
    source: Format,
    targets: Sequence[Format],
    content: bytes | Path,
    into: Path,
    limits: Limits | None = None,
    pool: Pool | None = None,
) -> list[Rendition]:
    """Make several forms that one tool makes, reading the content once."""
    into.mkdir(parents=True, exist_ok=True)
    with nullcontext(pool) if pool else Pool(1, warm=()) as workers, workers.private_folder() as folder:
        given = content if isinstance(content, Path) else folder / "content"
        if isinstance(content, bytes):
            given.write_bytes(content)
        with made(workers, source, targets, given, limits or Limits()) as result:
            return [_kept(path, into, result.answer.cpu_seconds / len(targets)) for path in result.paths]


def _kept(file: Path, into: Path, cpu_seconds: float) -> Rendition:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Rendition(Path(shutil.move(file, into / digest)), digest, cpu_seconds)
