"""What an attachment method reports while it works, and how it learns that it should stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from polycast.overlay.attachment import PER_PUBLISHER, Attachment, Indices, Overlay

# A slice of a kernel's work takes about this long, so that Ctrl-C and time limits work.
SLICE = 0.03


@dataclass
class Search:
    """The best attachment and the best bound so far, shared between a method and whoever waits for it.

    A method offers every attachment worth keeping as soon as it has it, so that a time limit or Ctrl-C always
    finds the best so far.
    """

    overlay: Overlay
    core: str = PER_PUBLISHER
    seed: int = 0
    deadline: float = float("inf")
    on_progress: Callable[[float | None, str], None] | None = None
    best: Attachment | None = None
    lower_bound: float = 0.0

    def offer(self, broker: Indices) -> Attachment:
        """Note an attachment, and keep it if it is the cheapest so far."""
        attachment = Attachment(self.overlay, broker, self.core)
        if self.best is None or attachment.cost.total < self.best.cost.total:
            self.best = attachment
        return attachment

    def raise_bound(self, bound: float) -> None:
        """Note that nothing can cost less than this."""
        self.lower_bound = max(self.lower_bound, bound)

    @property
    def spent(self) -> bool:
        """Whether the time limit has passed and there is an answer: however short it is, one is found."""
        return self.best is not None and time.perf_counter() >= self.deadline

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def report(self, share: float | None, message: str) -> None:
        """Tell whoever watches how far the work is (0 to 1, None where nobody knows)."""
        if self.on_progress is not None:
            self.on_progress(share, message)

    def slices(self, count: int, message: str, first: int = 64) -> Iterator[tuple[int, int]]:
        """Cut the numbers below ``count`` into slices that take about ``SLICE`` seconds each."""
        start, size, since = 0, first, time.perf_counter()
        while start < count:
            stop = min(start + size, count)
            yield start, stop
            now = time.perf_counter()
            size = max(1, min(int((stop - start) * SLICE / max(now - since, 1e-6)), 4 * (stop - start)))
            start, since = stop, now
            self.report(start / count, message)
