"""The core: which links between brokers carry a message, and what they cost.

A message on a channel travels from its publisher's broker to all brokers that have a subscriber. *Per publisher*,
it does so over the minimum spanning tree of exactly these brokers (Overlay, section III.A). In a *shared* core all
brokers form one spanning tree, the minimum one, and a message uses the smallest part of it that connects them.

Either way a set of brokers has a *tree*: a row of ``order``, ``above`` and ``hop`` that :func:`span` fills in, and
one more broker can be added to it by :func:`extension` without looking at the set anew.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import SHARED, Flags, Floats, Indices

ABSENT, TOP = -2, -1  # in ``above``: a broker outside the tree, and the broker at its top


class Core(NamedTuple):
    """The links between brokers, and, where the core is shared, the one tree: parents stand first in ``order``."""

    cost: Floats
    shared: bool
    order: Indices
    above: Indices
    hop: Floats
    level: Indices


def core_of(cost: Floats, core: str) -> Core:
    """The core of the given kind; of equally cheap spanning trees it is always the same one."""
    brokers = len(cost)
    order, above, hop = np.empty(brokers, np.int32), np.empty(brokers, np.int32), np.zeros(brokers)
    level = np.zeros(brokers, np.int32)
    links = Core(cost, False, order, above, hop, level)
    span(links, np.ones(brokers, np.bool_), order, above, hop)
    for broker in order[1:]:
        level[broker] = level[above[broker]] + 1
    return links._replace(shared=core == SHARED)


@kernel
def span(core: Core, members: Flags, order: Indices, above: Indices, hop: Floats) -> tuple[int, float]:
    """Fill in the tree that connects a set of brokers; return how many brokers it has, and its weight."""
    above[:] = ABSENT
    if core.shared:
        return _part_of_shared(core, members, order, above, hop)
    return _minimum_spanning_tree(core, members, order, above, hop)


@kernel
def _minimum_spanning_tree(
    core: Core, members: Flags, order: Indices, above: Indices, hop: Floats
) -> tuple[int, float]:
    """Prim's algorithm; brokers stand in ``order`` as they join."""
    waiting = np.flatnonzero(members).astype(np.int32)
    left, size, weight = len(waiting), 0, 0.0
    if not left:
        return 0, 0.0
    near, link = np.full(left, np.inf), np.full(left, TOP, np.int32)
    near[0] = 0.0
    while left:
        best = 0
        for i in range(1, left):
            if near[i] < near[best]:
                best = i
        joined = waiting[best]
        order[size], above[joined], hop[joined] = joined, link[best], near[best]
        weight += near[best]
        size, left = size + 1, left - 1
        waiting[best], near[best], link[best] = waiting[left], near[left], link[left]
        cost = core.cost[joined]
        for i in range(left):
            if cost[waiting[i]] < near[i]:
                near[i], link[i] = cost[waiting[i]], joined
    return size, weight


@kernel
def _part_of_shared(core: Core, members: Flags, order: Indices, above: Indices, hop: Floats) -> tuple[int, float]:
    """The part of the one tree between the members."""
    below = members.astype(np.int32)
    total = below.sum()
    for position in range(len(below) - 1, 0, -1):
        broker = core.order[position]
        below[core.above[broker]] += below[broker]
    size, weight, found = 0, 0.0, False
    for position in range(len(below) - 1, -1, -1):  # the lowest broker with all members below it is the top
        broker = core.order[position]
        if total and below[broker] == total and not found:
            found, above[broker], hop[broker] = True, TOP, 0.0
        elif 0 < below[broker] < total:
            above[broker], hop[broker] = core.above[broker], core.hop[broker]
            weight += hop[broker]
    for broker in core.order:
        if above[broker] != ABSENT:
            order[size] = broker
            size += 1
    return size, weight


@kernel
def extension(
    core: Core, size: int, order: Indices, above: Indices, hop: Floats, broker: int, nearest: Floats
) -> float:
    """What the tree of a set weighs more with one broker more; less than 0 where that broker is a short cut.

    ``nearest`` is room for a number for each broker.
    """
    if not size or above[broker] != ABSENT:
        return 0.0
    if core.shared:
        return _way_to(core, above, broker, order[0])
    return _inserted(core, size, order, above, hop, broker, nearest)


@kernel
def _way_to(core: Core, above: Indices, broker: int, top: int) -> float:
    """How far a broker is from a part of the shared tree: climb from both until they meet."""
    way = 0.0
    while above[broker] == ABSENT and broker != top:
        if core.level[broker] >= core.level[top]:
            way += core.hop[broker]
            broker = core.above[broker]
        else:
            way += core.hop[top]
            top = core.above[top]
    return way


@kernel
def _inserted(
    core: Core, size: int, order: Indices, above: Indices, hop: Floats, broker: int, nearest: Floats
) -> float:
    """Spira and Pan: from the last to the first, of the ways from a subtree to the rest the cheaper one stays.

    The link to the new broker and the link above close a circle; the dearer of the two becomes a way from the
    broker above to the new one, which there again competes.
    """
    for position in range(size):
        nearest[order[position]] = core.cost[broker, order[position]]
    more = 0.0
    for position in range(size - 1, 0, -1):
        v = order[position]
        kept, other = min(hop[v], nearest[v]), max(hop[v], nearest[v])
        more += kept - hop[v]
        nearest[above[v]] = min(nearest[above[v]], other)
    return float(more + nearest[order[0]])
