"""The dissemination tree as the rendezvous point supposes it, without asking anybody (CCD, section 2).

It knows its own table, so that its own next hops are exact; the identifiers of all who receive; and how far
they are from itself. It does not know the tables of others: wherever one of those decides, it supposes that the
next hop is the broker that it knows to fit and that is nearest to itself. Brokers that only pass content on are
unknown to it.
"""

from collections.abc import Iterable

import numpy as np

from polycast.overlay.dissemination import Dissemination, dissemination_of
from polycast.overlay.shortest_paths import Indices, Numbers
from polycast.overlay.tapestry.identifiers import digit
from polycast.overlay.tapestry.mesh import Tapestry
from polycast.overlay.tapestry.proximity import distance
from polycast.overlay.tapestry.tables import NOBODY


def estimate(overlay: Tapestry, root: int, receivers: Numbers) -> Dissemination:
    """The tree that the root supposes. It takes no probe, and it may be wrong."""
    return dissemination_of(overlay, root, _Estimate(overlay, root).above(receivers))


def hops_of_links(overlay: Tapestry, found: Dissemination) -> Indices:
    """How many hops the overlay really takes for the link above every broker of a tree; 0 for the root.

    In a tree that was discovered, one to a link.
    """
    parents, brokers = found.links()
    hops = np.zeros(len(found.brokers), np.int32)
    hops[found.tree.parents >= 0] = overlay.routes(parents, overlay.identifiers[brokers]).hops
    return hops


def agreement(first: Dissemination, second: Dissemination) -> float:
    """Of the brokers below the root of either tree, the share that hangs below the same broker in both."""
    ours, theirs = first.tree.as_mapping(), second.tree.as_mapping()
    either = ours.keys() | theirs.keys()
    same = sum(1 for broker in either if ours.get(broker) == theirs.get(broker))
    return same / len(either) if either else 1.0


class _Estimate:
    """What the root knows, and what it makes of it."""

    def __init__(self, overlay: Tapestry, root: int) -> None:
        self.overlay = overlay
        self.root = root
        self.levels = overlay.tables.shape[1]

    def above(self, receivers: Numbers) -> dict[int, int]:
        """The supposed broker above each."""
        links: dict[int, int] = {}
        waiting = [(self.root, 0, [int(broker) for broker in receivers if broker != self.root])]
        while waiting:
            broker, level, group = waiting.pop()
            for d, members in self._by_digit(group, level).items():
                if d == self._digit(broker, level):
                    waiting.append((broker, level + 1, members))
                    continue
                hop = self._next_hop(broker, level, d, members)
                links[hop] = broker
                if rest := [member for member in members if member != hop]:
                    waiting.append((hop, level + 1, rest))
        return links

    def _by_digit(self, group: Iterable[int], level: int) -> dict[int, list[int]]:
        parts: dict[int, list[int]] = {}
        for broker in group:
            parts.setdefault(self._digit(broker, level), []).append(broker)
        return parts

    def _digit(self, broker: int, level: int) -> int:
        return int(digit(self.overlay.identifiers[broker], level))

    def _next_hop(self, broker: int, level: int, d: int, members: list[int]) -> int:
        """By the root's own table if it decides itself; else the nearest to the root of those that it knows."""
        if broker == self.root:
            for neighbour in self.overlay.tables[broker, level, d]:
                if neighbour != NOBODY and self.overlay.alive[neighbour]:
                    return int(neighbour)
        return min(members, key=lambda member: float(distance(self.overlay.space, self.root, member)))
