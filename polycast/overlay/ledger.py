"""What an attachment costs, kept up to date from move to move, and what a move or a swap would change.

Most moves change nothing in the core: as long as a broker keeps a subscriber of every channel it has one of, and
receives no first one, all trees stay. Two bit sets per broker (channels with no subscriber, and with just one) and
two per user (channels published and wanted) tell at once which channels a move can touch at all. For those, what a
channel would cost if one broker left its set, or joined it, is computed once and kept until the channel changes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.overlay.attachment import Costs, Flags, Floats, Indices, Overlay
from polycast.overlay.core import ABSENT, Core, core_of, extension, span
from polycast.overlay.cost import access_cost, tables

Bits = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

ONE = np.uint64(1)
WORD = 64
ACCESS, CORE = 0, 1  # in ``total``


class Ledger(NamedTuple):
    """
    Parameters
    ----------
    wants, sends : (u, words)
        The channels that a user subscribes to, and publishes on, as bits.
    published, readers : (b, t)
        What is published at a broker on a channel, and how many of its users subscribe.
    none, single : (b, words)
        The channels of which a broker has no subscriber, and just one.
    members : (t, b)
        The brokers that have a subscriber of a channel.
    size, order, above, hop, weight : (t, ...)
        The tree of each channel's members, see :mod:`polycast.overlay.core`.
    value : (t,)
        What each channel costs in the core.
    version : (t,)
        How often a channel has changed; what is noted for an earlier version is void.
    left, left_more, left_at : (t, b)
        What the channel would cost without this member, but for the member's own messages; what these would cost
        more than others; and the version.
    joined, joined_at, more, more_at : (t, b)
        What it would cost with this broker as a member; what a message from outside costs more; the versions.
    """

    core: Core
    access: Costs
    demand: Floats
    room: Floats
    publishes: Floats
    rate: Floats
    wants: Bits
    sends: Bits
    broker: Indices
    load: Floats
    published: Floats
    readers: Indices
    none: Bits
    single: Bits
    members: Flags
    size: Counts
    order: Indices
    above: Indices
    hop: Floats
    weight: Floats
    value: Floats
    version: Counts
    left: Floats
    left_more: Floats
    left_at: Counts
    joined: Floats
    joined_at: Counts
    more: Floats
    more_at: Counts
    total: Floats


def ledger_of(overlay: Overlay, broker: Indices, core: str) -> Ledger:
    """Open the ledger of an attachment."""
    brokers, channels = overlay.brokers, overlay.channels
    published, readers = tables(overlay.publishes, overlay.interest, broker, brokers)
    floats, never = np.zeros((channels, brokers)), np.full((channels, brokers), -1, np.int64)
    ledger = Ledger(
        core=core_of(overlay.core_cost, core),
        access=overlay.access_cost,
        demand=overlay.demand,
        room=overlay.room,
        publishes=overlay.publishes,
        rate=overlay.rate,
        wants=bits_of(overlay.interest),
        sends=bits_of(overlay.publishes > 0),
        broker=broker.astype(np.int32),
        load=np.bincount(broker, overlay.demand, brokers).astype(np.float64),
        published=published,
        readers=readers,
        none=bits_of(readers == 0),
        single=bits_of(readers == 1),
        members=np.ascontiguousarray(readers.T > 0),
        size=np.zeros(channels, np.int64),
        order=np.zeros((channels, brokers), np.int32),
        above=np.full((channels, brokers), ABSENT, np.int32),
        hop=floats.copy(),
        weight=np.zeros(channels),
        value=np.zeros(channels),
        version=np.zeros(channels, np.int64),
        left=floats.copy(),
        left_more=floats.copy(),
        left_at=never.copy(),
        joined=floats.copy(),
        joined_at=never.copy(),
        more=floats.copy(),
        more_at=never.copy(),
        total=np.zeros(2),
    )
    ledger.total[ACCESS] = access_cost(overlay.access_cost, overlay.demand, broker)
    for channel in range(channels):
        _renew(ledger, channel)
    return ledger


def bits_of(flags: Flags) -> Bits:
    """Rows of flags as rows of words."""
    words = -(-flags.shape[1] // WORD)
    packed = np.zeros((len(flags), words * 8), np.uint8)
    packed[:, : -(-flags.shape[1] // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return packed.view(np.uint64)


@kernel
def fits(l: Ledger, user: int, b: int) -> bool:
    """Whether a user may be put on a broker besides those that are there."""
    return bool(l.access[user, b] < np.inf and l.load[b] + l.demand[user] <= l.room[b])


@kernel
def access_change(l: Ledger, user: int, b: int) -> float:
    """What the user's access link would cost more at another broker."""
    return float(l.demand[user] * (l.access[user, b] - l.access[user, l.broker[user]]))


@kernel
def touches_core(l: Ledger, user: int, b: int) -> bool:
    """Whether moving a user to a broker can change anything in the core."""
    a = l.broker[user]
    for w in range(l.wants.shape[1]):
        if _touched(l, user, a, b, w):
            return True
    return False


@kernel
def core_change(l: Ledger, user: int, b: int) -> float:
    """What the core would cost more if a user moved to a broker."""
    a, change = l.broker[user], 0.0
    if a == b:
        return 0.0
    for w in range(l.wants.shape[1]):
        bits = _touched(l, user, a, b, w)
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + _position(bit)
            leaves, joins = (
                bool(l.wants[user, w] & l.single[a, w] & bit),
                bool(l.wants[user, w] & l.none[b, w] & bit),
            )
            change += _after(l, c, a, b, leaves, joins, l.publishes[user, c]) - l.value[c]
    return change


@kernel
def core_change_of_swap(l: Ledger, user: int, other: int) -> float:
    """What the core would cost more if two users changed places."""
    a, b, change = l.broker[user], l.broker[other], 0.0
    if a == b:
        return 0.0
    for w in range(l.wants.shape[1]):
        one, two = l.wants[user, w] & ~l.wants[other, w], l.wants[other, w] & ~l.wants[user, w]
        bits = (one & (l.single[a, w] | l.none[b, w])) | (two & (l.single[b, w] | l.none[a, w]))
        bits |= (l.sends[user, w] | l.sends[other, w]) & (l.none[a, w] | l.none[b, w])
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + _position(bit)
            moved = l.publishes[user, c] - l.publishes[other, c]
            if two & bit:
                leaves, joins = bool(l.single[b, w] & bit), bool(l.none[a, w] & bit)
                after = _after(l, c, b, a, leaves, joins, -moved)
            else:
                leaves, joins = bool(one & l.single[a, w] & bit), bool(one & l.none[b, w] & bit)
                after = _after(l, c, a, b, leaves, joins, moved)
            change += after - l.value[c]
    return change


@kernel
def move(l: Ledger, user: int, b: int) -> None:
    """Attach a user to another broker."""
    a = l.broker[user]
    if a == b:
        return
    l.total[ACCESS] += access_change(l, user, b)
    l.load[a] -= l.demand[user]
    l.load[b] += l.demand[user]
    l.broker[user] = b
    for w in range(l.wants.shape[1]):
        touched, wanted = _touched(l, user, a, b, w), l.wants[user, w]
        bits = wanted | l.sends[user, w]
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + _position(bit)
            l.published[a, c] = max(0.0, l.published[a, c] - l.publishes[user, c])
            l.published[b, c] += l.publishes[user, c]
            if wanted & bit:
                l.readers[a, c] -= 1
                l.readers[b, c] += 1
                _recount(l, a, c)
                _recount(l, b, c)
            if touched & bit:
                _renew(l, c)


@kernel
def _touched(l: Ledger, user: int, a: int, b: int, w: int) -> np.uint64:
    """The channels that a user's move from `a` to `b` can touch: where a set of brokers changes, or where a message
    comes from a broker outside the set."""
    wanted = l.wants[user, w] & (l.single[a, w] | l.none[b, w])
    return wanted | (l.sends[user, w] & (l.none[a, w] | l.none[b, w]))


@kernel
def _position(bit: np.uint64) -> int:
    """The place of the one bit that is set."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(step):
            bit >>= np.uint64(step)
            place += step
    return place


@kernel
def _recount(l: Ledger, b: int, c: int) -> None:
    """Bring the bits of a broker and a channel in line with the number of readers."""
    w, bit = c // WORD, ONE << np.uint64(c % WORD)
    l.none[b, w] = l.none[b, w] | bit if l.readers[b, c] == 0 else l.none[b, w] & ~bit
    l.single[b, w] = l.single[b, w] | bit if l.readers[b, c] == 1 else l.single[b, w] & ~bit
    l.members[c, b] = l.readers[b, c] > 0


@kernel
def _renew(l: Ledger, c: int) -> None:
    """Find the tree of a channel anew, and what it costs."""
    l.size[c], l.weight[c] = span(l.core, l.members[c], l.order[c], l.above[c], l.hop[c])
    l.version[c] += 1
    value = l.weight[c] * l.rate[c]
    for b in range(len(l.load)):
        if not l.members[c, b] and l.published[b, c] > 0:
            value += l.published[b, c] * _more(l, c, b)
    l.total[CORE] += value - l.value[c]
    l.value[c] = value


@kernel
def _more(l: Ledger, c: int, b: int) -> float:
    """What a message of a channel costs more if it comes from a broker, rather than from a member."""
    if l.members[c, b]:
        return 0.0
    if l.more_at[c, b] != l.version[c]:
        nearest = np.empty(len(l.load))
        l.more[c, b] = extension(l.core, l.size[c], l.order[c], l.above[c], l.hop[c], b, nearest)
        l.more_at[c, b] = l.version[c]
    return float(l.more[c, b])


@kernel
def _after(l: Ledger, c: int, a: int, b: int, leaves: bool, joins: bool, moved: float) -> float:
    """What a channel would cost if `a` left its set or `b` joined it, and a rate moved from `a` to `b`."""
    if not leaves and not joins:
        return float(l.value[c] + moved * (_more(l, c, b) - _more(l, c, a)))
    if not joins:
        if l.left_at[c, a] != l.version[c]:
            l.left[c, a], l.left_more[c, a] = _changed(l, c, a, -1)
            l.left_at[c, a] = l.version[c]
        return float(l.left[c, a] + (l.published[a, c] - moved) * l.left_more[c, a])
    if not leaves:
        if l.joined_at[c, b] != l.version[c]:
            l.joined[c, b], _ = _changed(l, c, -1, b)
            l.joined_at[c, b] = l.version[c]
        return float(l.joined[c, b])
    value, more = _changed(l, c, a, b)
    return float(value + (l.published[a, c] - moved) * more)


@kernel
def _changed(l: Ledger, c: int, without: int, also: int) -> tuple[float, float]:
    """What a channel would cost without one member and with one more (-1: none).

    A message from the one that left costs more than from a member; how much more is returned besides, and not yet
    part of the cost.
    """
    brokers = len(l.load)
    members = l.members[c].copy()
    if without >= 0:
        members[without] = False
    if also >= 0:
        members[also] = True
    order, above = np.empty(brokers, np.int32), np.empty(brokers, np.int32)
    hop, nearest = np.empty(brokers), np.empty(brokers)
    size, weight = span(l.core, members, order, above, hop)
    value, more = weight * l.rate[c], 0.0
    for b in range(brokers):
        if b == without:
            more = extension(l.core, size, order, above, hop, b, nearest)
        elif not members[b] and l.published[b, c] > 0:
            value += l.published[b, c] * extension(l.core, size, order, above, hop, b, nearest)
    return value, more
