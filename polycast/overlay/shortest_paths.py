"""The cheapest ways from some brokers to all others, one search from each (Dijkstra)."""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]
Numbers = Sequence[int] | npt.NDArray[np.integer[Any]]

# Broker pairs that one call of the kernel may settle, so that Ctrl-C is heard within some 100 ms.
SLICE = 200_000


def shortest_paths(start: Indices, head: Indices, cost: Floats, sources: Indices) -> Floats:
    """A row of distances from every source; infinite where there is no way.

    The links that leave broker `b` lead to ``head[start[b]:start[b + 1]]``.
    """
    brokers = len(start) - 1
    rows: npt.NDArray[Any] = np.empty((len(sources), brokers))
    step = max(1, SLICE // brokers)
    for first in range(0, len(sources), step):
        _search(start, head, cost, sources[first : first + step], rows[first : first + step])
    return rows


@kernel
def _search(start: Indices, head: Indices, cost: Floats, sources: Indices, rows: Floats) -> None:
    for row, source in enumerate(sources):
        distance = rows[row]
        distance[:] = np.inf
        distance[source] = 0.0
        frontier = [(0.0, np.int64(source))]
        while len(frontier):
            near, broker = heappop(frontier)
            if near > distance[broker]:
                continue
            for link in range(start[broker], start[broker + 1]):
                far = near + cost[link]
                if far < distance[head[link]]:
                    distance[head[link]] = far
                    heappush(frontier, (far, np.int64(head[link])))
