"""What the users of two brokers may at best save if they move to the other one, or change places.

A move or swap is computed exactly only where the access links, and what the core could save at most, promise a
gain. Who fits into whose place is a matter of traffic: the users of one broker stand in the order of theirs, under
a tree of minima that finds the next promising one without looking at the others.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Flags, Floats, Indices
from polycast.overlay.ledger import (
    ONE,
    WORD,
    Counts,
    Ledger,
    access_change,
    core_change,
    core_change_of_swap,
    fits,
    position_of,
    prospects,
)

NOTHING, ALONE = -2, -1  # instead of a partner


class Hopes(NamedTuple):
    """What `n` users of two brokers could at best change if they went to the other one.

    Parameters
    ----------
    alone, swapped : (n,)
        If the user moves; and its part if it is swapped. Infinite for those who are not to change places.
    by_demand, demand : (m,)
        The users at the second broker, those with little traffic first, and how much each has.
    rank : (n,)
        The place of each user among them; -1 for the others.
    partners : (2 size,)
        A tree of minima over their parts in that order: node `n` is above `2n` and `2n + 1`, the leaves begin
        at `size`.
    """

    alone: Floats
    swapped: Floats
    by_demand: Counts
    demand: Floats
    rank: Counts
    partners: Floats


@kernel
def hopes_of(book: Ledger, users: Indices, moved: Flags, a: int, b: int) -> Hopes:
    """What may be hoped for from users of two brokers, but for those that have been moved."""
    alone, swapped = np.full(len(users), np.inf), np.full(len(users), np.inf)
    _fill_in(book, users, moved, a, b, alone, swapped)
    _fill_in(book, users, moved, b, a, alone, swapped)
    there = np.flatnonzero(book.broker[users] == b)
    by_demand = there[np.argsort(book.demand[users[there]], kind="mergesort")]
    size = 1
    while size < len(by_demand):
        size *= 2
    rank, partners = np.full(len(users), -1), np.full(2 * size, np.inf)
    for place in range(len(by_demand)):
        rank[by_demand[place]] = place
        partners[size + place] = swapped[by_demand[place]]
    for node in range(size - 1, 0, -1):
        partners[node] = min(partners[2 * node], partners[2 * node + 1])
    return Hopes(alone, swapped, by_demand, book.demand[users[by_demand]], rank, partners)


@kernel
def _fill_in(book: Ledger, users: Indices, moved: Flags, a: int, b: int, alone: Floats, swapped: Floats) -> None:
    """Fill in the hopes of the users at `a`.

    The innermost loop of the search: what it reads of the ledger is taken out beforehand, because handing the
    ledger to another kernel takes longer than looking at a user. A channel that nobody wants at `b` is one that no
    partner there wants, so the whole change counts; else the partner may at best make up for what is lost.
    """
    broker, demand, access, wants, sends, publishes = (
        book.broker,
        book.demand,
        book.access,
        book.wants,
        book.sends,
        book.publishes,
    )
    unread, changing, silent = book.none[b], book.single[a] | book.none[b], book.none[a] | book.none[b]
    wanting, sending = prospects(book, a, b)
    for i in range(len(users)):
        user = users[i]
        if broker[user] != a or moved[user]:
            continue
        alone[i] = swapped[i] = demand[user] * (access[user, b] - access[user, a])
        for w in range(len(changing)):
            bits = (wants[user, w] & changing[w]) | (sends[user, w] & silent[w])
            while bits:
                bit = bits & (~bits + ONE)
                bits ^= bit
                c = w * WORD + position_of(bit)
                core = wanting[c] if wants[user, w] & bit else publishes[user, c] * sending[c]
                alone[i] += core
                swapped[i] += core if unread[w] & bit else min(0.0, core)


@kernel
def strike(hopes: Hopes, i: int) -> None:
    """Expect nothing more of a user."""
    hopes.alone[i] = hopes.swapped[i] = np.inf
    if hopes.rank[i] >= 0:
        node = len(hopes.partners) // 2 + hopes.rank[i]
        hopes.partners[node] = np.inf
        while node > 1:
            node //= 2
            hopes.partners[node] = min(hopes.partners[2 * node], hopes.partners[2 * node + 1])


@kernel
def _next_below(tree: Floats, place: int, limit: float) -> int:
    """The first leaf from a place on that is below a limit; as many as there are leaves if none is."""
    size = len(tree) // 2
    node = size + place
    while not tree[node] < limit:
        while node & 1:
            node //= 2
        if not node:
            return size
        node += 1
    while node < size:
        node *= 2
        if not tree[node] < limit:
            node += 1
    return node - size


@kernel
def best_for(book: Ledger, hopes: Hopes, users: Indices, i: int, a: int, b: int, least: float) -> tuple[int, int]:
    """What saves most for a user: to move ``ALONE``, to change places with another, or ``NOTHING``; and how many
    ways were computed."""
    user, best, found, tried = users[i], least, NOTHING, 1
    to = b if book.broker[user] == a else a
    if hopes.alone[i] < best and fits(book, user, to):
        change = access_change(book, user, to) + core_change(book, user, to)
        if change < best:
            best, found = change, ALONE
    if to == a:
        return found, tried
    place = np.searchsorted(hopes.demand, book.demand[user] - (book.room[b] - book.load[b]))
    most = book.demand[user] + (book.room[a] - book.load[a])
    while place < len(hopes.demand):
        place = _next_below(hopes.partners, place, best - hopes.swapped[i])
        if place >= len(hopes.demand) or hopes.demand[place] > most:
            break
        other = users[hopes.by_demand[place]]
        tried += 1
        change = access_change(book, user, b) + access_change(book, other, a)
        change += core_change_of_swap(book, user, other)
        if change < best:
            best, found = change, hopes.by_demand[place]
        place += 1
    return found, tried
