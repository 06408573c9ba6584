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


class Users(NamedTuple):
    """The users of a ledger, a row for each; ``demand`` is the traffic of each, ``broker`` where it is."""

    publishes: Floats
    interest: Flags
    access_cost: Costs
    demand: Floats
    broker: Indices


class Brokers(NamedTuple):
    """What there is at every broker: by channel, what is published and how many read; its load, and its room."""

    published: Floats
    readers: Indices
    load: Floats
    room: Floats


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
    near : (t, b)
        What the channel saves at most if this member leaves: the rate times its shortest link in the tree.
    version : (t,)
        How often a channel has changed; what is noted for an earlier version is void.
    left, left_more, left_at : (t, b)
        What the channel would cost without this member, but for the member's own messages; what these would cost
        more than others; and the version.
    joined, joined_at, more, more_at : (t, b)
        What it would cost with this broker as a member; what a message from outside costs more; the versions.
    changed, changed_more, changed_at, changed_from, changed_to : (t, 2)
        What it would cost if one broker left and another joined: the last such two, one each way.
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
    near: Floats
    version: Counts
    left: Floats
    left_more: Floats
    left_at: Counts
    joined: Floats
    joined_at: Counts
    more: Floats
    more_at: Counts
    changed: Floats
    changed_more: Floats
    changed_at: Counts
    changed_from: Counts
    changed_to: Counts
    total: Floats


def ledger_of(overlay: Overlay, broker: Indices, core: str) -> Ledger:
    """Open the ledger of an attachment."""
    published, readers = tables(overlay.publishes, overlay.interest, broker, overlay.brokers)
    users = Users(overlay.publishes, overlay.interest, overlay.access_cost, overlay.demand, broker)
    load = np.bincount(broker, overlay.demand, overlay.brokers).astype(np.float64)
    links = core_of(overlay.core_cost, core)
    return open_ledger(users, Brokers(published, readers, load, overlay.room), links, overlay.rate)


def open_ledger(users: Users, at: Brokers, core: Core, rate: Floats) -> Ledger:
    """Open a ledger of some users, given what there is at all brokers."""
    brokers, channels = at.published.shape
    floats, never = np.zeros((channels, brokers)), np.full((channels, brokers), -1, np.int64)
    ledger = Ledger(
        core=core,
        access=users.access_cost,
        demand=users.demand,
        room=at.room,
        publishes=users.publishes,
        rate=rate,
        wants=bits_of(users.interest),
        sends=bits_of(users.publishes > 0),
        broker=users.broker.astype(np.int32),
        load=at.load,
        published=at.published,
        readers=at.readers,
        none=bits_of(at.readers == 0),
        single=bits_of(at.readers == 1),
        members=np.ascontiguousarray(at.readers.T > 0),
        size=np.zeros(channels, np.int64),
        order=np.zeros((channels, brokers), np.int32),
        above=np.full((channels, brokers), ABSENT, np.int32),
        hop=floats.copy(),
        weight=np.zeros(channels),
        value=np.zeros(channels),
        near=floats.copy(),
        version=np.zeros(channels, np.int64),
        left=floats.copy(),
        left_more=floats.copy(),
        left_at=never.copy(),
        joined=floats.copy(),
        joined_at=never.copy(),
        more=floats.copy(),
        more_at=never.copy(),
        changed=np.zeros((channels, 2)),
        changed_more=np.zeros((channels, 2)),
        changed_at=np.full((channels, 2), -1, np.int64),
        changed_from=np.zeros((channels, 2), np.int64),
        changed_to=np.zeros((channels, 2), np.int64),
        total=np.zeros(2),
    )
    ledger.total[ACCESS] = access_cost(users.access_cost, users.demand, users.broker)
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
def fits(book: Ledger, user: int, b: int) -> bool:
    """Whether a user may be put on a broker besides those that are there."""
    return bool(book.access[user, b] < np.inf and book.load[b] + book.demand[user] <= book.room[b])


@kernel
def access_change(book: Ledger, user: int, b: int) -> float:
    """What the user's access link would cost more at another broker."""
    return float(book.demand[user] * (book.access[user, b] - book.access[user, book.broker[user]]))


@kernel
def core_change(book: Ledger, user: int, b: int) -> float:
    """What the core would cost more if a user moved to a broker."""
    a, change = book.broker[user], 0.0
    if a == b:
        return 0.0
    for w in range(book.wants.shape[1]):
        bits = _touched(book, user, a, b, w)
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + position_of(bit)
            leaves, joins = (
                bool(book.wants[user, w] & book.single[a, w] & bit),
                bool(book.wants[user, w] & book.none[b, w] & bit),
            )
            change += _after(book, c, a, b, leaves, joins, book.publishes[user, c]) - book.value[c]
    return change


@kernel
def prospects(book: Ledger, a: int, b: int) -> tuple[Floats, Floats]:
    """By channel, the least that the core changes if a subscriber moves from `a` to `b`; and, for each unit that
    it publishes, if a publisher does that does not subscribe.

    A tree that loses a broker gets no lighter than by that broker's shortest link: else, with that link, it would
    span the old set for less. This is exact for messages from members, and taken for all; it takes far less time
    than to find the new tree.
    """
    channels = len(book.rate)
    wanting, sending = np.zeros(channels), np.zeros(channels)
    for c in range(channels):
        leaves, joins = book.readers[a, c] == 1, book.readers[b, c] == 0
        if leaves or joins:
            wanting[c] = book.rate[c] * book.weight[c] - book.value[c]
        if leaves:
            wanting[c] -= book.near[c, a]
        if joins:
            wanting[c] += book.rate[c] * _more(book, c, b)
        if book.readers[a, c] == 0 or book.readers[b, c] == 0:
            sending[c] = _more(book, c, b) - _more(book, c, a)
    return wanting, sending


@kernel
def core_change_of_swap(book: Ledger, user: int, other: int) -> float:
    """What the core would cost more if two users changed places."""
    a, b, change = book.broker[user], book.broker[other], 0.0
    if a == b:
        return 0.0
    for w in range(book.wants.shape[1]):
        one, two = book.wants[user, w] & ~book.wants[other, w], book.wants[other, w] & ~book.wants[user, w]
        bits = (one & (book.single[a, w] | book.none[b, w])) | (two & (book.single[b, w] | book.none[a, w]))
        bits |= (book.sends[user, w] | book.sends[other, w]) & (book.none[a, w] | book.none[b, w])
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + position_of(bit)
            moved = book.publishes[user, c] - book.publishes[other, c]
            if two & bit:
                leaves, joins = bool(book.single[b, w] & bit), bool(book.none[a, w] & bit)
                after = _after(book, c, b, a, leaves, joins, -moved)
            else:
                leaves, joins = bool(one & book.single[a, w] & bit), bool(one & book.none[b, w] & bit)
                after = _after(book, c, a, b, leaves, joins, moved)
            change += after - book.value[c]
    return change


@kernel
def move(book: Ledger, user: int, b: int) -> None:
    """Attach a user to another broker."""
    a = book.broker[user]
    if a == b:
        return
    book.total[ACCESS] += access_change(book, user, b)
    book.load[a] -= book.demand[user]
    book.load[b] += book.demand[user]
    book.broker[user] = b
    for w in range(book.wants.shape[1]):
        touched, wanted = _touched(book, user, a, b, w), book.wants[user, w]
        bits = wanted | book.sends[user, w]
        while bits:
            bit = bits & (~bits + ONE)
            bits ^= bit
            c = w * WORD + position_of(bit)
            book.published[a, c] = max(0.0, book.published[a, c] - book.publishes[user, c])
            book.published[b, c] += book.publishes[user, c]
            if wanted & bit:
                book.readers[a, c] -= 1
                book.readers[b, c] += 1
                _recount(book, a, c)
                _recount(book, b, c)
            if touched & bit:
                _renew(book, c)


@kernel
def _touched(book: Ledger, user: int, a: int, b: int, w: int) -> np.uint64:
    """The channels that a user's move can touch: a set of brokers changes, or a message comes from outside it."""
    wanted = book.wants[user, w] & (book.single[a, w] | book.none[b, w])
    return np.uint64(wanted | (book.sends[user, w] & (book.none[a, w] | book.none[b, w])))


@kernel
def position_of(bit: np.uint64) -> int:
    """The place of the one bit that is set."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(step):
            bit >>= np.uint64(step)
            place += step
    return place


@kernel
def _recount(book: Ledger, b: int, c: int) -> None:
    """Bring the bits of a broker and a channel in line with the number of readers."""
    w, bit = c // WORD, ONE << np.uint64(c % WORD)
    book.none[b, w] = book.none[b, w] | bit if book.readers[b, c] == 0 else book.none[b, w] & ~bit
    book.single[b, w] = book.single[b, w] | bit if book.readers[b, c] == 1 else book.single[b, w] & ~bit
    book.members[c, b] = book.readers[b, c] > 0


@kernel
def _renew(book: Ledger, c: int) -> None:
    """Find the tree of a channel anew, and what it costs."""
    book.size[c], book.weight[c] = span(book.core, book.members[c], book.order[c], book.above[c], book.hop[c])
    book.version[c] += 1
    value = book.weight[c] * book.rate[c]
    for b in range(len(book.load)):
        if not book.members[c, b] and book.published[b, c] > 0:
            value += book.published[b, c] * _more(book, c, b)
    _note_shortest_links(book, c)
    book.total[CORE] += value - book.value[c]
    book.value[c] = value


@kernel
def _note_shortest_links(book: Ledger, c: int) -> None:
    book.near[c] = book.rate[c] * book.weight[c]
    if book.core.shared:
        return
    for position in range(book.size[c] - 1, 0, -1):
        b = book.order[c, position]
        link = book.rate[c] * book.hop[c, b]
        book.near[c, b] = min(book.near[c, b], link)
        book.near[c, book.above[c, b]] = min(book.near[c, book.above[c, b]], link)


@kernel
def _more(book: Ledger, c: int, b: int) -> float:
    """What a message of a channel costs more if it comes from a broker, rather than from a member."""
    if book.members[c, b]:
        return 0.0
    if book.more_at[c, b] != book.version[c]:
        nearest = np.empty(len(book.load))
        book.more[c, b] = extension(book.core, book.size[c], book.order[c], book.above[c], book.hop[c], b, nearest)
        book.more_at[c, b] = book.version[c]
    return float(book.more[c, b])


@kernel
def _after(book: Ledger, c: int, a: int, b: int, leaves: bool, joins: bool, moved: float) -> float:
    """What a channel would cost if `a` left its set or `b` joined it, and a rate moved from `a` to `b`."""
    if not leaves and not joins:
        return float(book.value[c] + moved * (_more(book, c, b) - _more(book, c, a)))
    if not joins:
        if book.left_at[c, a] != book.version[c]:
            book.left[c, a], book.left_more[c, a] = _changed(book, c, a, -1)
            book.left_at[c, a] = book.version[c]
        return float(book.left[c, a] + (book.published[a, c] - moved) * book.left_more[c, a])
    if not leaves:
        if book.joined_at[c, b] != book.version[c]:
            book.joined[c, b], _ = _changed(book, c, -1, b)
            book.joined_at[c, b] = book.version[c]
        return float(book.joined[c, b])
    way = int(a > b)
    if (
        book.changed_at[c, way] != book.version[c]
        or book.changed_from[c, way] != a
        or book.changed_to[c, way] != b
    ):
        book.changed[c, way], book.changed_more[c, way] = _changed(book, c, a, b)
        book.changed_at[c, way], book.changed_from[c, way], book.changed_to[c, way] = book.version[c], a, b
    return float(book.changed[c, way] + (book.published[a, c] - moved) * book.changed_more[c, way])


@kernel
def _changed(book: Ledger, c: int, without: int, also: int) -> tuple[float, float]:
    """What a channel would cost without one member and with one more (-1: none).

    A message from the one that left costs more than from a member; how much more is returned besides, and not yet
    part of the cost.
    """
    brokers = len(book.load)
    members = book.members[c].copy()
    if without >= 0:
        members[without] = False
    if also >= 0:
        members[also] = True
    order, above = np.empty(brokers, np.int32), np.empty(brokers, np.int32)
    hop, nearest = np.empty(brokers), np.empty(brokers)
    size, weight = span(book.core, members, order, above, hop)
    value, more = weight * book.rate[c], 0.0
    for b in range(brokers):
        if b == without:
            more = extension(book.core, size, order, above, hop, b, nearest)
        elif not members[b] and book.published[b, c] > 0:
            value += book.published[b, c] * extension(book.core, size, order, above, hop, b, nearest)
    return value, more
