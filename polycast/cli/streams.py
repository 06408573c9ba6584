"""What every command does with its input, its output and the terminal."""

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from polycast import kernel
from polycast.errors import BadInput
from polycast.model import codec

OUTPUT = "standard output"


def read(path: str) -> tuple[bytes, str]:
    """The bytes of a file, or of standard input for ``-``, and the name to call it by in errors."""
    if path == "-":
        return sys.stdin.buffer.read(), name(path)
    try:
        return Path(path).read_bytes(), path
    except OSError as error:
        raise BadInput(path, error.strerror or str(error)) from None


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file, or standard input for ``-``, that can be read more than once."""
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if path == "-" else stack.enter_context(Path(path).open("rb"))
            if path == "-" or not file.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(file, copy)
                file = copy
        except OSError as error:
            raise BadInput(name(path), error.strerror or str(error)) from None
        yield file


def lines(file: BinaryIO, show: Callable[[float | None, str], None] | None, message: str) -> Iterator[bytes]:
    """A file line by line from its beginning, while a progress bar, if there is one, follows."""
    file.seek(0)
    size = os.fstat(file.fileno()).st_size
    for number, line in enumerate(file):
        if show is not None and number % 200 == 0:
            show(file.tell() / size, message)
        yield line


def name(path: str) -> str:
    """What to call a file in errors."""
    return "standard input" if path == "-" else path


def answer(document: object) -> None:
    """Print one answer as one line of JSON."""
    with _output():
        sys.stdout.buffer.write(codec.encode(document) + b"\n")


@contextmanager
def _output() -> Iterator[None]:
    """What is printed meanwhile is out afterwards; an error that keeps it in says which file it is about."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        error.filename = OUTPUT
        raise


def drop_lost_output() -> bool:
    """Whether what was printed cannot be written. It is dropped then: Python would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()
        return True
    return False


def drop_output() -> None:
    """Nobody reads what is printed from now on, nor what was and is not out yet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(message: str) -> None:
    """Tell whoever watches the terminal what is going on."""
    if sys.stderr.isatty():
        print(f"polycast: {message}", file=sys.stderr)


def write_whole(pieces: Iterable[bytes], out: str) -> None:
    """Write a file, which appears whole or not at all; or standard output for ``-``."""
    if out == "-":
        with _output():
            sys.stdout.buffer.writelines(pieces)
        return
    target = Path(out)
    growing = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
    try:
        with growing.open("wb") as file:
            file.writelines(pieces)
        growing.replace(target)
    except OSError as error:
        raise BadInput(out, error.strerror or str(error)) from None
    finally:
        with suppress(OSError):
            growing.unlink()


def announce_compilation() -> None:
    """Tell whoever watches the terminal why the first run takes longer. Said once, and only if it is so."""
    if sys.stderr.isatty():
        kernel.on_first_compilation(
            lambda: print("polycast: compiling its kernels; this happens once on a machine", file=sys.stderr)
        )


@contextmanager
def progress() -> Iterator[Callable[[float | None, str], None] | None]:
    """A progress bar on standard error, fed by the function it yields; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("working", total=None)

        def show(share: float | None, message: str) -> None:
            bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, description=message)

        yield show


def shares(show: Callable[[float | None, str], None], message: str) -> Callable[[float], None]:
    """Feeds a progress bar with shares alone."""
    return lambda share: show(share, message)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on standard output, as wide as its longest row where nobody watches."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    shown = Table(*head, box=None, pad_edge=False)
    for row in rows:
        shown.add_row(*map(escape, row))
    console = Console() if sys.stdout.isatty() else Console(width=200)
    with _output():
        console.print(shown)
