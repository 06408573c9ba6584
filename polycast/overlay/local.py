"""Local search, ours: from the best of the other attachments, move and swap users until nothing helps.

The search looks at two brokers at a time: at every user of either that has the other among its candidates, whether
to move it, and at every two of them, whether to swap them. What helps most is done, until nothing between the two
does. Brokers that have not changed since they were last compared are not compared again, except that when trees of
the core have changed, everything is looked at once more in the end.

A move or swap is computed exactly only where the access links, and what the core could save at most, promise a
gain.
"""

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.overlay.attachment import Floats, Indices
from polycast.overlay.candidates import Candidates, candidates_of, count_for
from polycast.overlay.cluster import attach_in_clusters
from polycast.overlay.greedy import attach_greedily
from polycast.overlay.ledger import (
    ONE,
    WORD,
    Ledger,
    access_change,
    core_change,
    core_change_of_swap,
    fits,
    ledger_of,
    move,
    position_of,
    prospects,
)
from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.priced_packing import attach_by_prices
from polycast.overlay.random_attachment import attach_randomly
from polycast.overlay.search import SLICE, Search

Ints = npt.NDArray[np.int64]

STARTS: tuple[Callable[[Search], None], ...] = (
    attach_greedily,
    attach_by_prices,
    attach_in_clusters,
    attach_by_mixing,
    attach_randomly,
)

# A gain that is a smaller share than this of the whole cost is taken for rounding.
LEAST_GAIN = 1e-12


def attach_locally(search: Search) -> None:
    """Offer the best of the other methods' attachments, and what search makes of it."""
    overlay = search.overlay
    everything = count_for(overlay) == overlay.brokers
    for start in STARTS if everything else STARTS[:2]:
        if not search.spent:
            start(search)
    assert search.best is not None
    ledger = ledger_of(overlay, search.best.broker, search.core)
    try:
        improve(search, ledger, candidates_of(search))
    finally:
        search.offer(ledger.broker)


def improve(search: Search, ledger: Ledger, candidates: Candidates) -> None:
    """Move and swap users until nothing helps, or the time is spent."""
    brokers = len(ledger.load)
    checked, changed = np.full((brokers, brokers), -1, np.int64), np.zeros(brokers, np.int64)
    clock, whole = np.zeros(1, np.int64), True
    while not search.spent:
        before, trees = clock[0], ledger.version.sum()
        start, users = _pairs(search, ledger, candidates)
        _one_pass(search, ledger, start, users, checked, changed, clock)
        if ledger.version.sum() != trees:
            whole = False
        if clock[0] > before:
            continue
        if whole:
            return
        checked[:], whole = -1, True


def _one_pass(
    search: Search, ledger: Ledger, start: Ints, users: Indices, checked: Ints, changed: Ints, clock: Ints
) -> None:
    """Compare every two brokers once, in slices."""
    pairs, position, effort = len(ledger.load) ** 2, 0, 10_000
    while position < pairs and not search.spent:
        since = time.perf_counter()
        position = _compare(ledger, start, users, checked, changed, clock, position, effort)
        effort = max(1000, int(effort * min(4.0, SLICE / max(time.perf_counter() - since, 1e-6))))
        search.report(None, f"cost {ledger.total.sum():.6g}, {clock[0]} moves")


def _pairs(search: Search, ledger: Ledger, candidates: Candidates) -> tuple[Ints, Indices]:
    """For every two brokers, the users at the first that may well move to the second."""
    brokers, message = len(ledger.load), "sorting users"
    start = np.zeros(brokers * brokers + 1, np.int64)
    for first, last in search.slices(len(ledger.broker), message):
        _count(ledger.broker, candidates.broker, start, brokers, first, last)
    np.cumsum(start, out=start)
    users, at = np.empty(start[-1], np.int32), start[:-1].copy()
    for first, last in search.slices(len(ledger.broker), message):
        _fill(ledger.broker, candidates.broker, at, users, brokers, first, last)
    return start, users


@kernel
def _count(broker: Indices, candidates: Indices, start: Ints, brokers: int, first: int, last: int) -> None:
    for user in range(first, last):
        for b in candidates[user]:
            if b >= 0 and b != broker[user]:
                start[broker[user] * brokers + b + 1] += 1


@kernel
def _fill(
    broker: Indices, candidates: Indices, at: Ints, users: Indices, brokers: int, first: int, last: int
) -> None:
    for user in range(first, last):
        for b in candidates[user]:
            if b >= 0 and b != broker[user]:
                pair = broker[user] * brokers + b
                users[at[pair]] = user
                at[pair] += 1


@kernel
def _compare(
    book: Ledger,
    start: Ints,
    users: Indices,
    checked: Ints,
    changed: Ints,
    clock: Ints,
    position: int,
    effort: int,
) -> int:
    """Improve between some pairs of brokers, as many as the effort allows; return the pair to go on with."""
    brokers = len(book.load)
    while position < brokers * brokers and effort > 0:
        a, b = position // brokers, position % brokers
        if a < b and checked[a, b] < max(changed[a], changed[b]):
            back = b * brokers + a
            here, there = users[start[position] : start[position + 1]], users[start[back] : start[back + 1]]
            both = np.concatenate((here, there))
            effort -= 50 + len(both)
            while _improve_between(book, both, a, b):
                clock[0] += 1
                changed[a] = changed[b] = clock[0]
                effort -= 50 + len(both) + len(here) * len(there)
            checked[a, b] = clock[0]
            effort -= len(here) * len(there)
        position += 1
        effort -= 1
    return position


@kernel
def _improve_between(book: Ledger, users: Indices, a: int, b: int) -> bool:
    """Do the move or swap between two brokers that saves most; False if none does."""
    least = -LEAST_GAIN * (book.total[0] + book.total[1])
    from_a, alone_a, swapped_a = _options(book, users, a, b)
    from_b, alone_b, swapped_b = _options(book, users, b, a)
    best, one = _best_move(book, from_a, alone_a, b, least)
    best, other = _best_move(book, from_b, alone_b, a, best)
    if other >= 0:
        one = -1
    free_a, free_b = book.room[a] - book.load[a], book.room[b] - book.load[b]
    order = np.argsort(swapped_b)
    for i in range(len(from_a)):
        for j in order:
            if swapped_a[i] + swapped_b[j] >= best:
                break
            u, v = from_a[i], from_b[j]
            shift = book.demand[u] - book.demand[v]
            if shift <= free_b and -shift <= free_a:
                change = access_change(book, u, b) + access_change(book, v, a) + core_change_of_swap(book, u, v)
                if change < best:
                    best, one, other = change, u, v
    if one >= 0:
        move(book, one, b)
    if other >= 0:
        move(book, other, a)
    return one >= 0 or other >= 0


@kernel
def _options(book: Ledger, users: Indices, a: int, b: int) -> tuple[Indices, Floats, Floats]:
    """Those of some users that are at `a`, and what it could at best change to move each to `b`, or to swap it.

    The innermost loop of the search: what it reads of the ledger is taken out beforehand, because handing the
    ledger to another kernel takes longer than looking at a user.
    """
    broker, demand, access, wants, sends, publishes = (
        book.broker,
        book.demand,
        book.access,
        book.wants,
        book.sends,
        book.publishes,
    )
    count, changing, silent = 0, book.single[a] | book.none[b], book.none[a] | book.none[b]
    there, alone, swapped = np.empty(len(users), np.int32), np.empty(len(users)), np.empty(len(users))
    wanting, sending = prospects(book, a, b)
    for user in users:
        if broker[user] != a:
            continue
        change = demand[user] * (access[user, b] - access[user, a])
        there[count], alone[count], swapped[count] = user, change, change
        for w in range(len(changing)):
            bits = (wants[user, w] & changing[w]) | (sends[user, w] & silent[w])
            while bits:
                bit = bits & (~bits + ONE)
                bits ^= bit
                c = w * WORD + position_of(bit)
                core = wanting[c] if wants[user, w] & bit else publishes[user, c] * sending[c]
                alone[count] += core
                swapped[count] += min(0.0, core)
        count += 1
    return there[:count], alone[:count], swapped[:count]


@kernel
def _best_move(book: Ledger, users: Indices, hope: Floats, b: int, best: float) -> tuple[float, int]:
    """The user whose move to a broker saves more than the best so far, and most; -1 if none does."""
    found = -1
    for i in range(len(users)):
        if hope[i] < best and fits(book, users[i], b):
            change = access_change(book, users[i], b) + core_change(book, users[i], b)
            if change < best:
                best, found = change, users[i]
    return best, found
