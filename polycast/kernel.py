"""How numeric kernels are compiled: once per machine, kept on disk, and never silently."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function over arrays at its first call, and keep the machine code beside the source.

    Kernels release the interpreter, so that Ctrl-C and progress bars keep working, and they follow IEEE
    arithmetic except that sums may be regrouped only where a kernel says so itself.
    """
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True, error_model="numpy")(function))


class _Announcer(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce: Callable[[], None] | None = announce

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._announce is not None:
            self._announce()
            self._announce = None

    def on_end(self, event: Any) -> None:
        pass


def on_first_compilation(announce: Callable[[], None]) -> None:
    """Call ``announce`` once, when (and only when) a kernel is not found on disk and must be compiled."""
    event.register("numba:compile", _Announcer(announce))  # type: ignore[no-untyped-call]
