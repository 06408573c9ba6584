"""Run a kernel that takes long in a thread of its own, so that a time limit or Ctrl-C can tell it to stop."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from polycast.model.problem import Flags
from polycast.place.search import Search

LOOK = 0.05
"""Seconds between two looks at the clock."""


def watched(search: Search, kernel: Callable[[Flags], None], message: str) -> bool:
    """Run a kernel with an array of one that it must look at often, and say whether it was left to end."""
    stop = np.zeros(1, np.bool_)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(kernel, stop)
        try:
            while not wait([running], LOOK).done and not search.spent:
                search.report(None, message)
        finally:
            ended = running.done()
            stop[0] = True
    running.result()
    return ended
