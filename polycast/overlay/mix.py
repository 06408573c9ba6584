"""Steiner-tree mixing (Overlay, section IV.B): a tree for every publisher and channel, mixed by chance.

Phase 1 grows, for each publisher and channel, the tree that the paper's Algorithm 3 grows: from the publisher,
always to the subscriber that is nearest to a broker of the tree, over the broker that makes the way there
shortest. Phase 2 draws a broker for each user, the likelier the more traffic the user's link to it carries in all
these trees. Phase 3, the trees between brokers, follows from the attachment.

That would be ``u · t`` trees. But a tree depends only on the broker where its publisher enters it, and on who
subscribes; so all publishers of a channel that enter at one broker share a tree. A publisher that subscribes to
its own channel is no end of its own tree; taking it out leaves the tree as it is, unless its being there has
brought a new broker into the tree. For those few, a tree of their own is grown. So the sums of traffic are exactly
those of the literal algorithm.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Flags, Floats, Indices, Overlay
from polycast.overlay.candidates import Candidates, candidates_of
from polycast.overlay.fit import everyone_fits
from polycast.overlay.search import Search

NOBODY = -1


class Ways(NamedTuple):
    """The cheapest way from a broker (row) to each of some users (column), and the broker it ends at."""

    users: Indices
    cost: Floats
    end: Indices

    def to(self, users: Indices) -> "Ways":
        """Those to some of the users; this one has all, by their numbers."""
        return Ways(users, self.cost[:, users], self.end[:, users])


def attach_by_mixing(search: Search, share: bool = True) -> None:
    """Offer the attachment of mixing; ``share=False`` grows every single tree, as the paper has it."""
    overlay, rng = search.overlay, search.rng()
    candidates = candidates_of(search, few=overlay.brokers)
    between = overlay.core_cost.copy()
    np.fill_diagonal(between, 0.0)
    for start, stop in search.slices(overlay.brokers, "finding ways between brokers", first=8):
        _shortest_ways(between, start, stop)
    everybody = np.arange(overlay.users, dtype=np.int32)
    table = (overlay.brokers, overlay.users)
    ways = Ways(everybody, np.empty(table), np.empty(table, np.int32))
    for start, stop in search.slices(overlay.users, "finding ways to users"):
        _find_ways(candidates, between, ways, start, stop)
    weight = np.zeros((overlay.users, overlay.brokers))
    for start, stop in search.slices(overlay.channels, "growing trees", first=1):
        for channel in range(start, stop):
            _mix_channel(overlay, candidates, ways, weight, channel, share)
    broker = np.full(overlay.users, NOBODY, np.int32)
    load = np.zeros(overlay.brokers)
    for start, stop in search.slices(overlay.users, "drawing brokers"):
        _draw(weight, candidates, overlay.demand, overlay.room, load, broker, start, stop, rng)
    search.offer(everyone_fits(overlay, broker))


def _mix_channel(
    overlay: Overlay, candidates: Candidates, ways: Ways, weight: Floats, channel: int, share: bool
) -> None:
    """Add the traffic of one channel's trees to each link between a user and a broker."""
    ways = ways.to(np.flatnonzero(overlay.interest[:, channel]).astype(np.int32))
    publishers = np.flatnonzero(overlay.publishes[:, channel]).astype(np.int32)
    rate = overlay.publishes[publishers, channel]
    entry = _entries(candidates, ways, publishers)
    for b in np.unique(entry[entry != NOBODY]):
        at = entry == b
        _grow_from(ways, int(b), publishers[at], rate[at], weight, share)


@kernel
def _shortest_ways(between: Floats, start: int, stop: int) -> None:
    """Floyd and Warshall, some of the middle brokers."""
    for middle in range(start, stop):
        for a in range(len(between)):
            for b in range(len(between)):
                between[a, b] = min(between[a, b], between[a, middle] + between[middle, b])


@kernel
def _find_ways(candidates: Candidates, between: Floats, ways: Ways, start: int, stop: int) -> None:
    """For some users, the ways from all brokers; of equal ways, the one that ends nearest to the user."""
    for i in range(start, stop):
        brokers, costs = candidates.broker[ways.users[i]], candidates.cost[ways.users[i]]
        for b in range(len(between)):
            least, end = np.inf, NOBODY
            for k in range(len(brokers)):
                if brokers[k] < 0 or costs[k] >= least:
                    break
                way = between[b, brokers[k]] + costs[k]
                if way < least * (1 - 1e-12):
                    least, end = way, brokers[k]
            ways.cost[b, i], ways.end[b, i] = least, end


@kernel
def _entries(candidates: Candidates, ways: Ways, publishers: Indices) -> Indices:
    """The broker over which each publisher reaches its first subscriber, itself aside; NOBODY if there is none."""
    brokers = len(ways.cost)
    nearest, second, who = np.full(brokers, np.inf), np.full(brokers, np.inf), np.full(brokers, NOBODY, np.int32)
    for b in range(brokers):
        for i in range(len(ways.users)):
            if ways.cost[b, i] < nearest[b]:
                second[b], nearest[b], who[b] = nearest[b], ways.cost[b, i], ways.users[i]
            elif ways.cost[b, i] < second[b]:
                second[b] = ways.cost[b, i]
    entry = np.full(len(publishers), NOBODY, np.int32)
    for p in range(len(publishers)):
        least = np.inf
        for k in range(candidates.broker.shape[1]):
            b = candidates.broker[publishers[p], k]
            if b < 0:
                break
            way = candidates.cost[publishers[p], k] + (second[b] if who[b] == publishers[p] else nearest[b])
            if way < least:
                least, entry[p] = way, b
    return entry


@kernel
def _grow_from(ways: Ways, entry: int, publishers: Indices, rate: Floats, weight: Floats, share: bool) -> None:
    """Add the traffic of the trees of publishers that enter at the same broker."""
    end = np.full(len(ways.users), NOBODY, np.int32)
    opened = np.zeros(len(ways.users), np.bool_)
    own = np.zeros(len(ways.users))  # what a subscriber publishes itself: not for it
    shared = 0.0
    if share:
        _grow(ways, entry, NOBODY, end, opened)
    for p in range(len(publishers)):
        weight[publishers[p], entry] += rate[p]
        i = np.searchsorted(ways.users, publishers[p])
        subscribes = i < len(ways.users) and ways.users[i] == publishers[p]
        if share and not (subscribes and opened[i]):
            shared += rate[p]
            if subscribes:
                own[i] = rate[p]
    for i in range(len(ways.users)):
        if share and end[i] != NOBODY:
            weight[ways.users[i], end[i]] += shared - own[i]
    for p in range(len(publishers)):
        i = np.searchsorted(ways.users, publishers[p])
        subscribes = i < len(ways.users) and ways.users[i] == publishers[p]
        if not share or (subscribes and opened[i]):
            _grow_alone(ways, entry, publishers[p], rate[p], weight)


@kernel
def _grow_alone(ways: Ways, entry: int, publisher: int, rate: float, weight: Floats) -> None:
    """Add the traffic of one publisher's tree."""
    end, opened = np.full(len(ways.users), NOBODY, np.int32), np.zeros(len(ways.users), np.bool_)
    _grow(ways, entry, publisher, end, opened)
    for i in range(len(end)):
        if end[i] != NOBODY:
            weight[ways.users[i], end[i]] += rate


@kernel
def _grow(ways: Ways, entry: int, publisher: int, end: Indices, opened: Flags) -> None:
    """Algorithm 3: the broker at which each subscriber joins the tree, and whether it brought that broker in.

    Only a subscriber that brings a broker in changes what is nearest, so all others join in passing: whoever is
    nearer than the next of those.
    """
    inside = np.zeros(len(ways.cost), np.bool_)
    waiting, cost, at = ways.users.copy(), ways.cost[entry].copy(), ways.end[entry].copy()
    left = 0
    for i in range(len(waiting)):
        if waiting[i] != publisher and at[i] != NOBODY:
            waiting[left], cost[left], at[left] = i, cost[i], at[i]
            left += 1
    new = entry
    while left:
        inside[new] = True
        nearest, first = np.inf, NOBODY
        for w in range(left):
            i = waiting[w]
            if ways.cost[new, i] < cost[w]:
                cost[w], at[w] = ways.cost[new, i], ways.end[new, i]
            if cost[w] < nearest and not inside[at[w]]:
                nearest, first = cost[w], i
        kept = 0
        for w in range(left):
            i = waiting[w]
            if i == first or (cost[w] <= nearest and inside[at[w]]):
                end[i], opened[i] = at[w], i == first
                if i == first:
                    new = at[w]
            else:
                waiting[kept], cost[kept], at[kept] = i, cost[w], at[w]
                kept += 1
        left = kept


@kernel
def _draw(
    weight: Floats,
    candidates: Candidates,
    demand: Floats,
    room: Floats,
    load: Floats,
    broker: Indices,
    start: int,
    stop: int,
    rng: np.random.Generator,
) -> None:
    """Draw a broker for some users, of those with room; a user without traffic takes the cheapest."""
    for user in range(start, stop):
        total, chosen = 0.0, NOBODY
        for b in range(len(load)):
            if load[b] + demand[user] <= room[b]:
                total += weight[user, b]
        mark = rng.random() * total
        for k in range(candidates.broker.shape[1]):
            b = candidates.broker[user, k]
            if b >= 0 and load[b] + demand[user] <= room[b]:
                if total == 0 or mark < weight[user, b]:
                    chosen = b
                    break
                mark -= weight[user, b]
        if chosen != NOBODY:
            broker[user] = chosen
            load[chosen] += demand[user]
