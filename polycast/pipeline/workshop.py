"""The converter of a Spark worker: warm from one task to the next, gone when it has been idle for a while."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from polycast.convert.converter import Converter
from polycast.convert.store import ContentStore
from polycast.convert.task import read_limits

IDLE = 30.0
"""Seconds after which the processes of the sandbox are not worth their memory any more."""


class Workshop:
    """A converter that is there when it is needed. Should its process be killed, its sandbox ends by itself.

    One process of the sandbox is enough: Spark decides how many tasks work side by side.
    """

    def __init__(self, idle: float = IDLE) -> None:
        self._idle = idle
        self._lock = threading.Lock()
        self._converter: Converter | None = None
        self._timer: threading.Timer | None = None

    @contextmanager
    def open(self, store: ContentStore) -> Iterator[Converter]:
        """The converter, for one at a time."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._converter is None or self._converter.store.url != store.url:
                self._close()
                limits = read_limits(os.environ.get("POLYCAST_LIMIT", "").split())
                self._converter = Converter(store, workers=1, limits=limits)
            try:
                yield self._converter
            finally:
                self._timer = threading.Timer(self._idle, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """End the processes of the sandbox."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._converter is not None:
            self._converter.close()
            self._converter = None


WORKSHOP = Workshop()
"""The one of this process."""
