"""Have the kernels of attachment methods at hand, by solving a small problem with each."""

from collections.abc import Iterable

import numpy as np

from polycast.overlay.attachment import CORES, Overlay
from polycast.overlay.solve import METHODS, solve


def warm(methods: Iterable[str] = METHODS) -> None:
    """Load the methods' kernels from disk, or compile them where they are not there yet."""
    rng = np.random.default_rng(0)
    places = rng.random((3, 2))
    overlay = Overlay(
        publishes=rng.random((8, 2)),
        interest=rng.random((8, 2)) < 0.5,
        access_cost=np.linalg.norm(rng.random((8, 1, 2)) - places, axis=2),
        core_cost=np.linalg.norm(places[:, None] - places, axis=2),
        capacity=np.full(3, 25.0),
    )
    overlay.detour()
    for method in methods:
        for core in CORES:
            solve(overlay, method, core=core)
