"""The recursion for few formats: a table of all sets fits the nearest cache, and is filled faster than searched.

A broker's table is first what the subtrees below it cost, then ``stop(I)``, then ``F(I)``, and in the end the
least cost with its link. It then becomes the table of the broker above, or is added to it.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel, minimum_kernel
from polycast.model.problem import Floats, Indices, Ints
from polycast.place.exact_few import Few, grow, trees
from polycast.place.exact_lattice import least_of_subsets
from polycast.place.exact_offers import Bits, Offers, insert
from polycast.place.exact_stop import pay_for_want
from polycast.place.exact_task import Task

MOST_FORMATS = 8
"""With more formats than this, searching for the few sets worth sending is faster than a table of all."""


class Tables(NamedTuple):
    """The tables that are in use, and the operators that fill them.

    Parameters
    ----------
    cost : (n, 2^k)
        The tables, as many as there are brokers at most; those never used take no memory.
    of : (n,)
        The number of a broker's table; -1 while it has none.
    free : (n + 1,)
        A stack of the tables not in use; its height is the last value.
    operator, free_operator : (2^k, k)
        The cheapest operator from any member of a set into a format; infinite for its members. And the same where
        operators cost nothing.
    """

    cost: Floats
    of: Ints
    free: Ints
    operator: Floats
    free_operator: Floats


def tables_for(task: Task, brokers: Indices) -> Tables:
    return Tables(
        cost=np.empty((len(brokers), 1 << len(task.size))),
        of=np.full(len(task.parent), -1, np.int64),
        free=np.append(np.arange(len(brokers))[::-1], len(brokers)),
        operator=_operators(task.high, task.low),
        free_operator=_operators(task.free_high, task.free_low),
    )


def _operators(high: Floats, low: Floats) -> Floats:
    k = high.shape[1]
    operators = np.minimum(high[:, None, :], low.T[None, :, :]).reshape(1 << k, k)
    held = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1
    return np.where(held, np.inf, operators)


class Scratch(NamedTuple):
    """Room for the work on one broker.

    Parameters
    ----------
    made : (2^k,)
        The format that a broker makes next when it holds a set; -1 if it makes no more.
    sending, whole : (2^k,)
        What sending a set costs, and what the subtree then costs in all.
    shared : (2^t, 2^k)
        What some of the wants of a subtree that wants little cost, shared among the members of a set.
    """

    made: Bits
    sending: Floats
    whole: Floats
    shared: Floats


@kernel
def climb_tables(
    task: Task, few: Few, tables: Tables, offers: Offers, brokers: Indices, first: int, last: int, count: int
) -> int:
    """Find what each link may carry, as :func:`polycast.place.exact_climb.climb` does."""
    k = len(task.size)
    scratch = Scratch(
        np.empty(1 << k, np.int8),
        np.empty(1 << k),
        np.empty(1 << k),
        np.empty((1 << max(0, few.wants.max()), 1 << k)),
    )
    for position in range(first, last - 1, -1):
        broker = brokers[position]
        if few.wants[broker] >= 0:
            grow(task, few, broker)
            if broker != task.root and few.wants[task.parent[broker]] >= 0:
                continue
        number = _table_of(tables, broker)
        table = tables.cost[number]
        if few.wants[broker] >= 0:
            _share(trees(task, few, broker), scratch.shared, table)
            scratch.made[:] = -1
        else:
            for want in range(task.want_start[broker], task.want_start[broker + 1]):
                choices = slice(task.choice_start[want], task.choice_start[want + 1])
                pay_for_want(task.bit, task.choice_format[choices], task.choice_penalty[choices], table)
            cost = task.compute_cost[broker]
            operator = tables.operator if cost > 0 else tables.free_operator
            _make(table, operator, cost if cost > 0 else 1.0, scratch.made)
        before = count
        offers.first[broker] = count
        if broker == task.root:
            insert(offers, count, count, 1 << task.published, table[1 << task.published])
            count += 1
        else:
            _send(task, broker, table, scratch)
            count = _offer(offers, scratch.whole, table, count)
            _hand_over(tables, task.parent[broker], number)
        offers.end[broker] = count
        for offer in range(before, count):
            _note_made(offers, offer, scratch.made)
    return count


@kernel
def _table_of(tables: Tables, broker: int) -> int:
    """The table of a broker; a new one, of zeros, if nothing below it wants anything."""
    if tables.of[broker] < 0:
        tables.free[-1] -= 1
        tables.of[broker] = tables.free[tables.free[-1]]
        tables.cost[tables.of[broker]] = 0.0
    return int(tables.of[broker])


@kernel
def _hand_over(tables: Tables, parent: int, number: int) -> None:
    """Add a table to that of the broker above, or let it be that."""
    if tables.of[parent] < 0:
        tables.of[parent] = number
        return
    table = tables.cost[tables.of[parent]]
    table += tables.cost[number]
    tables.free[tables.free[-1]] = number
    tables.free[-1] += 1


@minimum_kernel
def _make(table: Floats, operator: Floats, compute_cost: float, made: Bits) -> None:
    """Let a broker make formats: ``F(I) = min( stop(I), min_f [conv(I,f) + F(I ∪ {f})] )``, from full to empty."""
    for held in range(len(table) - 1, -1, -1):
        least, choice = table[held], -1
        for f in range(operator.shape[1]):
            cost = table[held | (1 << f)] + compute_cost * operator[held, f]
            if cost < least:
                least, choice = cost, f
        table[held] = least
        made[held] = choice


@minimum_kernel
def _share(tree: Floats, shared: Floats, table: Floats) -> None:
    """Fill a table with what the wants of a subtree cost when shared among the members of a set."""
    parts, k = tree.shape
    shared[1:parts, 0] = np.inf
    shared[0, :] = 0.0
    for f in range(k):
        half = 1 << f
        for some in range(1, parts):
            least = shared[some, half : 2 * half]
            least[:] = shared[some, :half]
            part = some
            while part:
                rest = shared[some ^ part, :half]
                for i in range(half):
                    least[i] = min(least[i], rest[i] + tree[part, f])
                part = (part - 1) & some
    table[:] = shared[parts - 1]


@minimum_kernel
def _send(task: Task, broker: int, table: Floats, scratch: Scratch) -> None:
    """Add what the link costs, and let every set's value become the least over its subsets."""
    sending, whole = scratch.sending, scratch.whole
    sending[0] = 0.0
    for f in range(len(task.size)):
        half = 1 << f
        price = task.link_cost[broker] * task.size[f] if task.size[f] < np.inf else np.inf
        for i in range(half):
            sending[half + i] = sending[i] + price
    for i in range(len(table)):
        whole[i] = table[i] + sending[i]
        table[i] = whole[i]
    least_of_subsets(table)


@kernel
def _offer(offers: Offers, whole: Floats, least: Floats, count: int) -> int:
    """Append the sets that no subset of theirs undercuts."""
    first = count
    for sent in range(1, len(whole)):
        if whole[sent] == least[sent] and whole[sent] < np.inf:
            insert(offers, first, count, sent, whole[sent])
            count += 1
    return count


@kernel
def _note_made(offers: Offers, offer: int, made: Bits) -> None:
    held, end = int(offers.sets[offer]), offers.made_first[offer]
    while made[held] >= 0:
        offers.made[end] = made[held]
        held |= 1 << made[held]
        end += 1
    offers.made_first[offer + 1] = end
