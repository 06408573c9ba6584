"""Minimum directed Steiner trees by trying every order in which vertices can be reached."""

from functools import cache

import numpy as np


def steiner_cost(weight: np.ndarray, sources: frozenset[int], terminals: frozenset[int]) -> float:
    """What it costs at least to reach the terminals from the sources, given a matrix of edges."""

    @cache
    def beyond(reached: frozenset[int]) -> float:
        if terminals <= reached:
            return 0.0
        rest = set(range(len(weight))) - reached
        steps = [(min(weight[tail, vertex] for tail in reached), vertex) for vertex in rest]
        return min((step + beyond(reached | {v}) for step, v in steps if step < np.inf), default=np.inf)

    return beyond(sources)
