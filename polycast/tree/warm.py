"""Have the kernels of tree builders at hand, by growing a small tree with each."""

from collections.abc import Iterable

import numpy as np

from polycast.tree.grow import METHODS, grow
from polycast.tree.model import LossModel, Overhead
from polycast.tree.servers import Servers


def warm(methods: Iterable[str] = METHODS) -> None:
    """Load the methods' kernels from disk, or compile them where they are not there yet."""
    times, rates, delays = np.full(5, 0.001), np.ones((5, 1)), np.full((5, 5), 0.01)
    servers = Servers(times, times, rates, delays)
    for method in methods:
        grow(servers, method, model=LossModel(precise=True, overhead=Overhead()))
