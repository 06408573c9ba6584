"""What a link may carry: the few sets of formats that are worth sending over it.

A set is worth sending only if it beats all of its own subsets, and a set with a format that the receiver would
make for less from the others does not. So instead of a table of 2^k values a link keeps a short list.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.model.problem import Floats, Ints
from polycast.place.exact_few import Few, bounded_share_of, join, lowest, nothing_to_share, weigh
from polycast.place.exact_task import Task

Sets = npt.NDArray[np.int32]
Bits = npt.NDArray[np.int8]


class Offers(NamedTuple):
    """For every broker, the sets worth sending to it, the cheapest first.

    Parameters
    ----------
    first, end : (n,)
        The offers of a broker's link are ``first[broker]`` up to ``end[broker]``.
    sets, costs
        A set, and what the subtree costs with it, the link included.
    made_first, made
        What the broker then makes, in order: ``made[made_first[offer]:made_first[offer + 1]]``.
    """

    first: Ints
    end: Ints
    sets: Sets
    costs: Floats
    made_first: Ints
    made: Bits


class Trial(NamedTuple):
    """Room for trying the sets that one link may carry.

    Parameters
    ----------
    least : (2^k,)
        The least cost over a set and its subsets.
    tried : (2^k,)
        The broker for which a set was tried last.
    waiting : (k^2, 2)
        Sets to try next, and the lower formats that may be added to them.
    standing : (k^2, 2)
        What sending such a set costs, and the least cost over its subsets.
    """

    least: Floats
    tried: Sets
    waiting: Ints
    standing: Floats
    price: Floats
    agrees: Ints


def no_offers(brokers: int) -> Offers:
    return Offers(
        first=np.zeros(brokers, np.int64),
        end=np.zeros(brokers, np.int64),
        sets=np.empty(0, np.int32),
        costs=np.empty(0, np.float64),
        made_first=np.zeros(1, np.int64),
        made=np.empty(0, np.int8),
    )


def with_room(offers: Offers, count: int, sets: int, made: int) -> Offers:
    """The same offers, so many of them, with room for so many sets and made formats in all."""
    noted = int(offers.made_first[count])
    return offers._replace(
        sets=_grown(offers.sets, count, sets),
        costs=_grown(offers.costs, count, sets),
        made_first=_grown(offers.made_first, count + 1, sets + 1),
        made=_grown(offers.made, noted, made),
    )


def _grown(array: npt.NDArray[Any], used: int, room: int) -> npt.NDArray[Any]:
    more = np.empty(room, array.dtype)
    more[:used] = array[:used]
    return more


@kernel
def room_for_trial(k: int) -> Trial:
    return Trial(
        np.empty(1 << k),
        np.full(1 << k, -1, np.int32),
        np.empty((k * k + 1, 2), np.int64),
        np.empty((k * k + 1, 2)),
        np.empty(k),
        np.empty(k, np.int64),
    )


@kernel
def find_offers(task: Task, few: Few, offers: Offers, trial: Trial, broker: int, table: Floats, count: int) -> int:
    """Append the sets worth sending to a broker, and return how many offers there are then.

    What the subtree costs with a set is in the table (``F``); if that is empty, it comes from sharing its wants.

    The sets are tried in the order of their numbers, so that all subsets come before a set. A set is not tried
    if for one of its subsets it is known that nothing more pays for itself: the bound is what the subtree costs if
    all formats are there for nothing, or with the best of all that could be sent for its few wants.
    """
    _price(task, trial, broker)
    sharing = bounded_share_of(task, few, broker, trial.price) if few.wants[broker] >= 0 else nothing_to_share()
    offers.first[broker] = count
    for top in range(len(task.size)):
        waiting = 0
        if trial.price[top] < np.inf:
            waiting = _wait(trial, 0, 1 << top, trial.agrees[top] & ((1 << top) - 1), trial.price[top], np.inf)
        while waiting:
            waiting -= 1
            tried, more = trial.waiting[waiting]
            sending, least = trial.standing[waiting]
            members, f = _size(tried) - 1, lowest(tried)
            cost, bound = weigh(sharing, members, f) if not len(table) else (table[tried], table[-1])
            if sending + cost < least:
                least = sending + cost
                insert(offers, offers.first[broker], count, tried, least)
                count += 1
            if sending + bound < least:
                trial.least[tried] = least
                trial.tried[tried] = broker
                before = waiting
                waiting = _wait_with_more(trial, waiting, broker, tried, more, sending)
                if waiting > before and not len(table):
                    join(sharing, members, f)
    offers.end[broker] = count
    return count


@kernel
def _size(tried: int) -> int:
    size = 0
    while tried:
        tried &= tried - 1
        size += 1
    return size


@kernel
def _price(task: Task, trial: Trial, broker: int) -> None:
    """What sending costs, and which formats it can pay to send together rather than make one from the other."""
    k = len(task.size)
    c = task.compute_cost[broker]
    for f in range(k):
        trial.price[f] = task.link_cost[broker] * task.size[f] if task.size[f] < np.inf else np.inf
    for f in range(k):
        trial.agrees[f] = 0
        for g in range(k):
            if g != f and trial.price[g] < np.inf:
                made_f = task.chain[g, f] < np.inf and c * task.chain[g, f] <= trial.price[f]
                made_g = task.chain[f, g] < np.inf and c * task.chain[f, g] <= trial.price[g]
                if not made_f and not made_g:
                    trial.agrees[f] |= 1 << g


@kernel
def _wait(trial: Trial, waiting: int, tried: int, more: int, sending: float, least: float) -> int:
    trial.waiting[waiting, 0] = tried
    trial.waiting[waiting, 1] = more
    trial.standing[waiting, 0] = sending
    trial.standing[waiting, 1] = least
    return waiting + 1


@kernel
def _wait_with_more(trial: Trial, waiting: int, broker: int, tried: int, more: int, sending: float) -> int:
    """Let a set wait with each lower format that agrees with all of it; the lowest comes up first."""
    for f in range(len(trial.price) - 1, -1, -1):
        if (more >> f) & 1:
            least = _least_of_smaller(trial, tried | (1 << f), broker)
            if least >= 0:
                lower = more & trial.agrees[f] & ((1 << f) - 1)
                waiting = _wait(trial, waiting, tried | (1 << f), lower, sending + trial.price[f], least)
    return waiting


@kernel
def _least_of_smaller(trial: Trial, tried: int, broker: int) -> float:
    """The least cost over all smaller subsets; -1 if one of them was not worth trying."""
    least = np.inf
    rest = tried
    while rest:
        smaller = tried ^ (rest & -rest)
        if smaller:
            if trial.tried[smaller] != broker:
                return -1.0
            least = min(least, trial.least[smaller])
        rest &= rest - 1
    return least


@kernel
def insert(offers: Offers, first: int, position: int, sent: int, cost: float) -> None:
    while position > first and offers.costs[position - 1] > cost:
        offers.sets[position] = offers.sets[position - 1]
        offers.costs[position] = offers.costs[position - 1]
        position -= 1
    offers.sets[position] = sent
    offers.costs[position] = cost
