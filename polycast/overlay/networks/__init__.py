"""Networks to try things on: drawn at random by a seed, or real ones.

Every generator places its brokers on a square of side 1 or on a grid, and returns a connected
:class:`polycast.overlay.topology.Topology`. ``GENERATORS`` has those that need nothing but a number of brokers and
a seed.
"""

from collections.abc import Callable

from polycast.overlay.networks.grid import grid
from polycast.overlay.networks.heterogeneity import heterogeneous
from polycast.overlay.networks.power_law import power_law
from polycast.overlay.networks.real import real
from polycast.overlay.networks.sites import Sites, sites
from polycast.overlay.networks.tree import tree
from polycast.overlay.networks.waxman import waxman
from polycast.overlay.topology import Topology

GENERATORS: dict[str, Callable[[int, int], Topology]] = {
    "power-law": power_law,
    "waxman": waxman,
    "grid": grid,
    "tree": tree,
}

__all__ = [
    "GENERATORS",
    "Sites",
    "Topology",
    "grid",
    "heterogeneous",
    "power_law",
    "real",
    "sites",
    "tree",
    "waxman",
]
