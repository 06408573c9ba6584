"""How far brokers are from one another: by a matrix of distances, or by where they lie on the plane."""

import math
from typing import NamedTuple

import numpy as np

from polycast.errors import BadInput
from polycast.kernel import kernel
from polycast.overlay.shortest_paths import Floats
from polycast.overlay.topology import Topology

# Beyond this many brokers a matrix of all distances takes too much time and memory.
MATRIX = 4096


class Space(NamedTuple):
    """Distances between `n` brokers: ``matrix`` if it has any entry, else straight lines between ``place``s."""

    place: Floats
    matrix: Floats

    @property
    def brokers(self) -> int:
        return max(len(self.place), len(self.matrix))


def space_of(topology: Topology) -> Space:
    """The cheapest ways between the brokers of a network; for a very large one, the straight lines."""
    if len(topology) <= MATRIX:
        matrix = topology.distances()
        if not np.isfinite(matrix).all():
            raise BadInput("network", "it has parts that nothing links")
        return Space(np.empty((0, 2)), matrix)
    if topology.place is None:
        raise BadInput("network", f"more than {MATRIX} brokers, and nothing says where they lie")
    return Space(np.ascontiguousarray(topology.place), np.empty((0, 0)))


@kernel
def distance(space: Space, a: int, b: int) -> float:
    """How far one broker is from another."""
    if space.matrix.size:
        return float(space.matrix[a, b])
    across = float(space.place[a, 0] - space.place[b, 0])
    down = float(space.place[a, 1] - space.place[b, 1])
    return math.sqrt(across * across + down * down)
