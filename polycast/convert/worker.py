"""Inside the sandbox: one run of one tool, in a process that can be lost without harm."""

import importlib
import resource
import sys
from pathlib import Path

import msgspec

from polycast import errors
from polycast.convert.task import Limits, Output, Task
from polycast.errors import ConversionError, Crashed
from polycast.model.format import Format


class Request(msgspec.Struct, frozen=True):
    """What is asked of a worker; files are in the run's private folder."""

    entry: str
    content: str
    source: Format
    outputs: list[tuple[Format, str]]
    limits: Limits


class Answer(msgspec.Struct, frozen=True):
    """How a run ended: well, or with the name and the text of an error."""

    error: str | None = None
    why: str = ""

    def raise_error(self) -> None:
        """Raise the error, if there is one, as it was raised in the sandbox."""
        if self.error is not None:
            kind = getattr(errors, self.error, Crashed)
            raise (kind if issubclass(kind, ConversionError) else Crashed)(self.why)


def perform(request: Request) -> Answer:
    """Run the tool and say how it ended."""
    module, _, name = request.entry.partition(":")
    outputs = tuple(Output(format, Path(path)) for format, path in request.outputs)
    task = Task(Path(request.content), request.source, outputs, request.limits, _ignore)
    try:
        getattr(importlib.import_module(module), name)(task)
    except ConversionError as error:
        return Answer(type(error).__name__, str(error))
    except MemoryError:
        return Answer("TooLarge", "more memory than allowed")
    except Exception as error:
        return Answer("Crashed", f"{type(error).__name__}: {error}"[:300])
    return Answer()


def _ignore(share: float) -> None:
    """Progress that nobody watches."""
    del share


def confine(limits: Limits) -> None:
    """Set the limits that the system itself enforces."""
    for kind, most in (
        (resource.RLIMIT_CPU, round(limits.cpu) + 1),
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.output),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Read one request from standard input, answer on standard output."""
    request = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Request)
    confine(request.limits)
    sys.stdout.buffer.write(msgspec.msgpack.encode(perform(request)))


if __name__ == "__main__":
    main()
