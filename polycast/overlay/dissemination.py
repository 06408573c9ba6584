"""Dissemination trees from routes (CCD, section 2): from the rendezvous point to the brokers that receive.

The routes from one broker to many form a tree by themselves: those whose identifiers begin alike share their way
for so long, and the ways never meet again once they have parted.
"""

from typing import NamedTuple

import numpy as np

from polycast.model.tree import ROOT, Tree
from polycast.overlay.shortest_paths import Indices, Numbers
from polycast.overlay.tapestry.mesh import Tapestry


class Dissemination(NamedTuple):
    """A tree from the rendezvous point to all who receive.

    Parameters
    ----------
    tree
        Its brokers by name, the rendezvous point first.
    brokers : (n,)
        The same brokers by number in the overlay.
    probes
        How many messages it took to find the tree, each over one link.
    """

    tree: Tree
    brokers: Indices
    probes: int

    @property
    def probe_megabytes(self) -> float:
        """What finding the tree has sent over the links."""
        return self.probes * PROBE

    def links(self) -> tuple[Indices, Indices]:
        """The two ends of the link above every broker but the root, by number in the overlay."""
        below = np.flatnonzero(self.tree.parents != ROOT)
        return self.brokers[self.tree.parents[below]], self.brokers[below]


# A probe that finds the way, in megabytes (CCD, section 6.1).
PROBE = 0.0001


def discover(overlay: Tapestry, root: int, receivers: Numbers) -> Dissemination:
    """The tree as it is, by discovery messages.

    The rendezvous point sends one down the tree to all receivers, which is a probe to a link; the brokers where
    it ends send it back, and it carries the way that it came by, which is a probe to a hop.
    """
    wanted = np.ascontiguousarray(receivers, np.int32)
    down = overlay.routes(np.full(len(wanted), root, np.int32), overlay.identifiers[wanted])
    above = _links_of(down.path)
    found = dissemination_of(overlay, root, above)
    leaves = np.setdiff1d(np.fromiter(above.keys(), np.int32), np.fromiter(above.values(), np.int32))
    up = overlay.routes(leaves, overlay.identifiers[root])
    return found._replace(probes=len(above) + int(up.hops.sum()))


def dissemination_of(overlay: Tapestry, root: int, above: dict[int, int]) -> Dissemination:
    """The tree in which every broker hangs below the one that is named."""
    brokers = np.array([root, *above], np.int32)
    position = {broker: place for place, broker in enumerate(brokers.tolist())}
    parents = np.array([ROOT, *(position[parent] for parent in above.values())], np.int32)
    return Dissemination(Tree([overlay.names[broker] for broker in brokers], parents), brokers, probes=0)


def _links_of(path: Indices) -> dict[int, int]:
    """From every broker on the ways to the one before it."""
    ends = np.stack((path[:, 1:].ravel(), path[:, :-1].ravel()), axis=1)
    links: dict[int, int] = dict(ends[ends[:, 0] >= 0].tolist())
    return links
