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
from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Flags, Indices
from polycast.overlay.candidates import Candidates, candidates_of, count_for
from polycast.overlay.cluster import attach_in_clusters
from polycast.overlay.greedy import attach_greedily
from polycast.overlay.hopes import ALONE, NOTHING, Hopes, best_for, hopes_of, strike
from polycast.overlay.ledger import Bits, Counts, Ledger, ledger_of, move
from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.priced_packing import attach_by_prices
from polycast.overlay.random_attachment import attach_randomly
from polycast.overlay.search import SLICE, Search

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
    notes, whole = _notes(*ledger.access.shape), True
    while not search.spent:
        before, trees = notes.clock[0], ledger.version.sum()
        start, users = _pairs(search, ledger, candidates)
        _one_pass(search, ledger, start, users, notes)
        if ledger.version.sum() != trees:
            whole = False
        if notes.clock[0] > before:
            continue
        if whole:
            return
        notes.checked[:], whole = -1, True


class Notes(NamedTuple):
    """Where the search stands.

    Parameters
    ----------
    clock : (1,)
        How many moves and swaps there have been.
    changed : (b,)
        When the users of a broker last changed.
    checked : (b, b)
        When nothing was found to improve between two brokers.
    place : (3,)
        The pair of brokers that is being compared, the place of the next of its users in ``order``, and how many
        moves and swaps there have been since the first of them.
    order : (u,)
        The users of the pair, those that promise most first.
    moved : (u,)
        Which users of the pair have changed places meanwhile.
    """

    clock: Counts
    changed: Counts
    checked: Counts
    place: Counts
    order: Counts
    moved: Flags


PAIR, USER, DONE = 0, 1, 2  # in ``place``


def _notes(users: int, brokers: int) -> Notes:
    return Notes(
        clock=np.zeros(1, np.int64),
        changed=np.zeros(brokers, np.int64),
        checked=np.full((brokers, brokers), -1, np.int64),
        place=np.zeros(3, np.int64),
        order=np.zeros(users, np.int64),
        moved=np.zeros(users, np.bool_),
    )


def _one_pass(search: Search, ledger: Ledger, start: Counts, users: Indices, notes: Notes) -> None:
    """Compare every two brokers once, in slices."""
    pairs, effort = len(ledger.load) ** 2, 10_000
    notes.place[:] = 0
    while notes.place[PAIR] < pairs and not search.spent:
        since = time.perf_counter()
        _compare(ledger, start, users, notes, effort)
        effort = max(1000, int(effort * min(4.0, SLICE / max(time.perf_counter() - since, 1e-6))))
        search.report(None, f"cost {ledger.total.sum():.6g}, {notes.clock[0]} moves")


def _pairs(search: Search, ledger: Ledger, candidates: Candidates) -> tuple[Counts, Indices]:
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
def _count(broker: Indices, candidates: Indices, start: Counts, brokers: int, first: int, last: int) -> None:
    for user in range(first, last):
        for b in candidates[user]:
            if b >= 0 and b != broker[user]:
                start[broker[user] * brokers + b + 1] += 1


@kernel
def _fill(
    broker: Indices, candidates: Indices, at: Counts, users: Indices, brokers: int, first: int, last: int
) -> None:
    for user in range(first, last):
        for b in candidates[user]:
            if b >= 0 and b != broker[user]:
                pair = broker[user] * brokers + b
                users[at[pair]] = user
                at[pair] += 1


@kernel
def _compare(book: Ledger, start: Counts, users: Indices, notes: Notes, effort: int) -> None:
    """Improve between some pairs of brokers, as many as the effort allows."""
    brokers, place = len(book.load), notes.place
    while place[PAIR] < brokers * brokers and effort > 0:
        pair = place[PAIR]
        a, b = pair // brokers, pair % brokers
        if a < b and notes.checked[a, b] < max(notes.changed[a], notes.changed[b]):
            back = b * brokers + a
            both = np.concatenate((users[start[pair] : start[pair + 1]], users[start[back] : start[back + 1]]))
            effort -= _sweep(book, both, a, b, notes, effort)
            if place[USER] < len(both):
                return
            if place[DONE]:
                place[USER] = 0
                continue
            notes.checked[a, b] = notes.clock[0]
        place[PAIR], place[USER] = pair + 1, 0
        effort -= 1


@kernel
def _sweep(book: Ledger, users: Indices, a: int, b: int, notes: Notes, effort: int) -> int:
    """Do for each user of two brokers what saves most, if anything does; return how much effort it took.

    Nobody changes places twice. It may end anywhere and go on later, with the same result.
    """
    place, order = notes.place, notes.order
    if place[USER] == 0:
        notes.moved[users], place[DONE] = False, 0
    hopes, spent = hopes_of(book, users, notes.moved, a, b), 0
    if place[USER] == 0:
        order[: len(users)] = np.argsort(
            np.minimum(hopes.alone, hopes.swapped + hopes.partners[1]), kind="mergesort"
        )
    while place[USER] < len(users) and spent < effort:
        i, least = order[place[USER]], -LEAST_GAIN * (book.total[0] + book.total[1])
        place[USER] += 1
        if hopes.alone[i] < least or hopes.swapped[i] + hopes.partners[1] < least:
            partner, tried = best_for(book, hopes, users, i, a, b, least)
            spent += tried
            if partner != NOTHING:
                hopes, rest = _carry_out(book, hopes, users, i, partner, a, b, notes)
                spent += rest
    return spent + 50 + len(users)


@kernel
def _carry_out(
    book: Ledger, hopes: Hopes, users: Indices, i: int, partner: int, a: int, b: int, notes: Notes
) -> tuple[Hopes, int]:
    """Move or swap; return what may be hoped for from then on, and the effort to find that out.

    Hopes stay as they are while no tree of the core changes, nor what could change one.
    """
    before = _standing(book, a, b)
    move(book, users[i], b if book.broker[users[i]] == a else a)
    notes.moved[users[i]] = True
    if partner != ALONE:
        move(book, users[partner], a)
        notes.moved[users[partner]] = True
    notes.clock[0] += 1
    notes.changed[a] = notes.changed[b] = notes.clock[0]
    notes.place[DONE] += 1
    if not np.array_equal(before, _standing(book, a, b)):
        return hopes_of(book, users, notes.moved, a, b), 50 + len(users)
    strike(hopes, i)
    if partner != ALONE:
        strike(hopes, partner)
    return hopes, 1


@kernel
def _standing(book: Ledger, a: int, b: int) -> Bits:
    """What hopes rest on besides the users themselves: two rows of bits for each broker, and all trees."""
    trees = np.array([book.version.sum()]).astype(np.uint64)
    return np.concatenate((book.none[a], book.single[a], book.none[b], book.single[b], trees))
