"""What every command does with its input, its output and the terminal."""

import sys
from pathlib import Path

from polycast import kernel
from polycast.errors import BadInput
from polycast.model import codec


def read(path: str) -> tuple[bytes, str]:
    """The bytes of a file, or of standard input for ``-``, and the name to call it by in errors."""
    if path == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(path).read_bytes(), path
    except OSError as error:
        raise BadInput(path, error.strerror or str(error)) from None


def answer(document: object) -> None:
    """Print one answer as one line of JSON."""
    sys.stdout.buffer.write(codec.encode(document) + b"\n")
    sys.stdout.buffer.flush()


def announce_compilation() -> None:
    """Tell whoever watches the terminal why the first run takes longer. Said once, and only if it is so."""
    if sys.stderr.isatty():
        kernel.on_first_compilation(
            lambda: print("polycast: compiling its kernels; this happens once on a machine", file=sys.stderr)
        )
