"""One conversion, start to end: the content in, a file and what it cost out."""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from polycast.convert import registry
from polycast.convert.task import Limits
from polycast.convert.worker import Answer, Request
from polycast.errors import Crashed, Timeout, TooLarge
from polycast.model.format import Format


class Rendition(NamedTuple):
    """Content in one form, freshly made: its file, its SHA-256, and what making it cost."""

    format: str
    path: Path
    digest: str
    size: int
    cpu_seconds: float


def run(
    source: Format, target: Format, content: bytes | Path, into: Path, limits: Limits | None = None
) -> Rendition:
    """Make one form of the content, by the tool that the registry has for it, as a file ``into`` a folder."""
    return run_many(source, [target], content, into, limits)[0]


def run_many(
    source: Format,
    targets: Sequence[Format],
    content: bytes | Path,
    into: Path,
    limits: Limits | None = None,
) -> list[Rendition]:
    """Make several forms that one tool makes, reading the content once; each bears an equal share of the cost."""
    limits = limits or Limits()
    tools = {registry.find(source, target) for target in targets}
    if len(tools) != 1:
        raise ValueError("one run takes one tool")
    with tempfile.TemporaryDirectory(prefix="polycast-") as private:
        given = Path(private, "content")
        _place(content, given, limits)
        outputs = [(target, str(Path(private, f"output-{number}"))) for number, target in enumerate(targets)]
        spent = _perform(Request(tools.pop().entry, str(given), source, outputs, limits), private)
        share = spent / len(outputs)
        return [_keep(format, Path(path), into, share, limits) for format, path in outputs]


def _place(content: bytes | Path, given: Path, limits: Limits) -> None:
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size > limits.input:
        raise TooLarge(f"{size} bytes of content are more than {limits.input}")
    if isinstance(content, bytes):
        given.write_bytes(content)
    else:
        given.symlink_to(content.resolve())


def _perform(request: Request, private: str) -> float:
    before = _children_cpu()
    process = subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", "polycast.convert.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=private,
        env={"PATH": "/usr/bin:/bin", "HOME": private, "TMPDIR": private, "LANG": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(msgspec.msgpack.encode(request), timeout=request.limits.wall)
    except subprocess.TimeoutExpired:
        raise Timeout(f"longer than {request.limits.wall:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode != 0:
        raise Crashed(f"the tool ended with {process.returncode}")
    msgspec.msgpack.decode(said, type=Answer).raise_error()
    return _children_cpu() - before


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _keep(format: Format, made: Path, into: Path, cpu_seconds: float, limits: Limits) -> Rendition:
    if not made.is_file():
        raise Crashed(f'the tool wrote no "{format.name}"')
    size = made.stat().st_size
    if size > limits.output:
        raise TooLarge(f"{size} bytes are more than {limits.output}")
    with made.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    into.mkdir(parents=True, exist_ok=True)
    path = into / digest
    moved = into / f".{digest}.{os.getpid()}"
    moved.write_bytes(made.read_bytes())
    moved.replace(path)
    return Rendition(format.name, path, digest, size, cpu_seconds)
