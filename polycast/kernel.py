"""How numeric kernels are compiled: once per machine, kept on disk, never stale, and never silently."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar, cast

import numba
from numba.core import caching, event

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function over arrays at its first call, and keep the machine code beside the source.

    Kernels release the interpreter, so that Ctrl-C and progress bars keep working. A division by zero is infinite,
    as in numpy.
    """
    return _compiled(function, fastmath=False)


def minimum_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel full of minima: without NaN and signed zeros to mind, a minimum is one machine instruction."""
    return _compiled(function, fastmath={"nnan", "nsz"})


def summing_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel full of sums, whose terms may be added in any order: several at a time."""
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: Callable[P, R], fastmath: bool | set[str]) -> Callable[P, R]:
    if inspect.isgeneratorfunction(function):  # from disk it would work, but not in a caller compiled anew
        raise TypeError(f"{function.__qualname__} is a generator, which cannot be a kernel")
    settings: Any = numba.config
    locators, settings.CACHE_LOCATOR_CLASSES = settings.CACHE_LOCATOR_CLASSES, _LOCATORS
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        return cast(Callable[P, R], numba.njit(**options)(function))
    finally:
        settings.CACHE_LOCATOR_CLASSES = locators


def on_first_compilation(announce: Callable[[], None]) -> None:
    """Call ``announce`` once, when (and only when) a kernel is not found on disk and must be compiled."""
    event.register("numba:compile", _Announcer(announce))  # type: ignore[no-untyped-call]


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is Ctrl-C: one that meets numba on the way into a kernel is the cause of another error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


class Interruptible:
    """A piece of work that Ctrl-C ends early, so that what was found until then can still be told."""

    interrupted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.interrupted = is_interrupt(error)
        return self.interrupted


class _Announcer(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce: Callable[[], None] | None = announce

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._announce is not None:
            self._announce()
            self._announce = None

    def on_end(self, event: Any) -> None:
        pass


class _WithItsImports:
    """Numba asks whether one file has changed; a kernel is also made of the kernels that it calls from others."""

    _py_file: str

    def get_source_stamp(self) -> tuple[str, int]:
        return _stamp(Path(self._py_file)), 0


class UserProvided(_WithItsImports, caching.UserProvidedCacheLocator):
    pass


class BesideTheSource(_WithItsImports, caching.InTreeCacheLocator):
    pass


class InTheUsersCache(_WithItsImports, caching.UserWideCacheLocator):
    pass


_LOCATORS = ",".join(
    f"{__name__}.{locator.__name__}" for locator in (UserProvided, BesideTheSource, InTheUsersCache)
)
_KERNEL = re.compile(r"^@\w*kernel\b", re.MULTILINE)
_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(r"^(?:from|import) polycast\.([\w.]+)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


@cache
def _stamp(source: Path) -> str:
    """A digest of a file and of all files of kernels that it imports, directly or not."""
    sources = {source}
    waiting = [source]
    while waiting:
        new = set(_imported_kernels(waiting.pop())) - sources
        sources |= new
        waiting.extend(new)
    return hashlib.sha256(b"".join(_text(path).encode() for path in sorted(sources))).hexdigest()


def _imported_kernels(source: Path) -> Iterator[Path]:
    for module, names in _IMPORT.findall(_text(source)):
        folder = _PACKAGE / module.replace(".", "/")
        for path in (folder.with_suffix(".py"), *(folder / f"{name}.py" for name in re.findall(r"\w+", names))):
            if path.is_file() and _KERNEL.search(_text(path)):
                yield path


@cache
def _text(path: Path) -> str:
    return path.read_text()
