"""Local search, ours: from the best of the paper's attachments, move and swap users until nothing helps.

The search looks at two brokers at a time: at every user of either that has the other among its candidates, whether
to move it, and at every two of them, whether to swap them. What helps most is done, until nothing between the two
does. Brokers that have not changed since they were last compared are not compared again, except that when trees of
the core have changed, everything is looked at once more in the end.

A swap is looked at if the access links, and what each of the two would save in the core by moving alone, promise a
gain; then it is computed exactly.
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
    Ledger,
    access_change,
    core_change,
    core_change_of_swap,
    fits,
    ledger_of,
    move,
    touches_core,
)
from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.random_attachment import attach_randomly
from polycast.overlay.search import SLICE, Search

Ints = npt.NDArray[np.int64]

STARTS: tuple[Callable[[Search], None], ...] = (
    attach_greedily,
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
    for start in STARTS if everything else STARTS[:1]:
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
    l: Ledger, start: Ints, users: Indices, checked: Ints, changed: Ints, clock: Ints, position: int, effort: int
) -> int:
    """Improve between some pairs of brokers, as many as the effort allows; return the pair to go on with."""
    brokers = len(l.load)
    while position < brokers * brokers and effort > 0:
        a, b = position // brokers, position % brokers
        if a < b and checked[a, b] < max(changed[a], changed[b]):
            back = b * brokers + a
            here, there = users[start[position] : start[position + 1]], users[start[back] : start[back + 1]]
            both = np.concatenate((here, there))
            effort -= 50 + len(both)
            while _improve_between(l, both, a, b):
                clock[0] += 1
                changed[a] = changed[b] = clock[0]
                effort -= 50 + len(both) + len(here) * len(there)
            checked[a, b] = clock[0]
            effort -= len(here) * len(there)
        position += 1
        effort -= 1
    return position


@kernel
def _improve_between(l: Ledger, users: Indices, a: int, b: int) -> bool:
    """Do the move or swap between two brokers that saves most; False if none does."""
    least = -LEAST_GAIN * (l.total[0] + l.total[1])
    from_a, access_a, core_a = _options(l, users, a, b)
    from_b, access_b, core_b = _options(l, users, b, a)
    best, one = _best_move(l, from_a, access_a + core_a, b, least)
    best, other = _best_move(l, from_b, access_b + core_b, a, best)
    if other >= 0:
        one = -1
    touched_a, touched_b = _touching(l, from_a, b), _touching(l, from_b, a)
    free_a, free_b = l.room[a] - l.load[a], l.room[b] - l.load[b]
    for i in range(len(from_a)):
        u, hope = from_a[i], access_a[i] + min(0.0, core_a[i])
        for j in range(len(from_b)):
            if hope + access_b[j] + min(0.0, core_b[j]) < best:
                v = from_b[j]
                shift = l.demand[u] - l.demand[v]
                if shift <= free_b and -shift <= free_a:
                    change = access_a[i] + access_b[j]
                    if touched_a[i] or touched_b[j]:
                        change += core_change_of_swap(l, u, v)
                    if change < best:
                        best, one, other = change, u, v
    if one >= 0:
        move(l, one, b)
    if other >= 0:
        move(l, other, a)
    return one >= 0 or other >= 0


@kernel
def _options(l: Ledger, users: Indices, a: int, b: int) -> tuple[Indices, Floats, Floats]:
    """Those of some users that are at `a`, and what moving each to `b` would change in access and core."""
    count = 0
    there, access, core = np.empty(len(users), np.int32), np.empty(len(users)), np.empty(len(users))
    for user in users:
        if l.broker[user] == a:
            there[count], access[count] = user, access_change(l, user, b)
            core[count] = core_change(l, user, b)
            count += 1
    return there[:count], access[:count], core[:count]


@kernel
def _touching(l: Ledger, users: Indices, b: int) -> npt.NDArray[np.bool_]:
    touching = np.empty(len(users), np.bool_)
    for i in range(len(users)):
        touching[i] = touches_core(l, users[i], b)
    return touching


@kernel
def _best_move(l: Ledger, users: Indices, change: Floats, b: int, best: float) -> tuple[float, int]:
    """The user whose move to a broker saves more than the best so far, and most; -1 if none does."""
    found = -1
    for i in range(len(users)):
        if change[i] < best and fits(l, users[i], b):
            best, found = change[i], users[i]
    return best, found
