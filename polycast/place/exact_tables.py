"""The recursion for few formats: a table of all sets fits the nearest cache, and is filled faster than searched.

A broker's table is first what the subtrees below it cost together, then ``stop(I)``, then ``F(I)``, and in the
end the least cost with its link. It then becomes the table of the broker above, or is added to it.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel, minimum_kernel
from polycast.model.problem import Floats, Indices, Ints
from polycast.place.exact_lattice import least_of_subsets
from polycast.place.exact_offers import Bits, Offers, insert
from polycast.place.exact_task import Task

MOST_FORMATS = 8
"""With more formats than this, searching for the few sets worth sending is faster than a table of all."""


class Tables(NamedTuple):
    """The tables that are in use, what fills them, and room to work on one.

    Parameters
    ----------
    cost : (n, 2^k)
        As many tables as there are brokers at most; those never used take no memory.
    of : (n,)
        The number of a broker's table; -1 while it has none.
    free : (n + 1,)
        A stack of the tables not in use; its height is the last value.
    operator, free_operator : (2^k, k)
        The cheapest operator from any member of a set into a format, and the same where operators cost nothing.
    size : (2^k,)
        The size of all members of a set together.
    made : (2^k,)
        Room for the format that a broker makes next when it holds a set; -1 if it makes no more.
    whole : (2^k,)
        Room for what a subtree costs with its link if a set is sent, all of it.
    wanted : (n,)
        The formats that a broker wants if its subtree wants nothing else, and conversions cost there; else 0.
    leaf_cost, leaf_made : (2^k, 2^k)
        ``F`` of a broker that wants such a set, at a compute cost of 1, and ``made``.
    """

    cost: Floats
    of: Ints
    free: Ints
    operator: Floats
    free_operator: Floats
    size: Floats
    made: Bits
    whole: Floats
    wanted: Ints
    leaf_cost: Floats
    leaf_made: Bits


def tables_for(task: Task, brokers: Indices) -> Tables:
    """Tables for all brokers, none of them in use."""
    k = len(task.size)
    held = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1
    operator = _operators(task.high, task.low)
    wanted = _wanted_by_leaves(task, brokers)
    leaf_cost, leaf_made = _tables_of_leaves(wanted, operator)
    return Tables(
        cost=np.empty((len(brokers), 1 << k)),
        of=np.full(len(task.parent), -1, np.int64),
        free=np.append(np.arange(len(brokers))[::-1], len(brokers)),
        operator=operator,
        free_operator=_operators(task.free_high, task.free_low),
        size=np.where(held, task.size, 0.0).sum(axis=1),
        made=np.empty(1 << k, np.int8),
        whole=np.empty(1 << k),
        wanted=wanted,
        leaf_cost=leaf_cost,
        leaf_made=leaf_made,
    )


def _operators(high: Floats, low: Floats) -> Floats:
    k = high.shape[1]
    return np.minimum(high[:, None, :], low.T[None, :, :]).reshape(1 << k, k)


@kernel
def _wanted_by_leaves(task: Task, brokers: Indices) -> Ints:
    wanted = np.where(task.compute_cost > 0.0, 0, -1)
    for broker in brokers[::-1]:
        if task.parent[broker] >= 0:
            wanted[task.parent[broker]] = -1
        for want in range(task.want_start[broker], task.want_start[broker + 1]):
            choice = task.choice_start[want]
            if task.choice_start[want + 1] - choice > 1 or task.choice_penalty[choice] > 0.0:
                wanted[broker] = -1
            wanted[broker] |= 1 << task.bit[task.choice_format[choice]]
    return np.maximum(wanted, 0)


@kernel
def _tables_of_leaves(wanted: Ints, operator: Floats) -> tuple[Floats, Bits]:
    cost = np.empty((len(operator), len(operator)))
    made = np.empty((len(operator), len(operator)), np.int8)
    occurs = np.zeros(len(operator), np.bool_)
    occurs[wanted] = True
    for some in range(1, len(operator)):
        if occurs[some]:
            for held in range(len(operator)):
                cost[some, held] = 0.0 if held & some == some else np.inf
            _make(cost[some], operator, 1.0, made[some])
    return cost, made


@kernel
def climb_tables(
    task: Task, tables: Tables, offers: Offers, brokers: Indices, first: int, last: int, count: int
) -> int:
    """Find what each link may carry, as :func:`polycast.place.exact_climb.climb` does."""
    for position in range(first, last - 1, -1):
        broker = brokers[position]
        wanted, cost = tables.wanted[broker], task.compute_cost[broker]
        made = tables.leaf_made[wanted] if wanted else tables.made
        number = _table_of(tables, broker)
        table = tables.cost[number]
        if wanted:
            table += cost * tables.leaf_cost[wanted]
        else:
            for want in range(task.want_start[broker], task.want_start[broker + 1]):
                choices = slice(task.choice_start[want], task.choice_start[want + 1])
                _pay_for_want(task.bit, task.choice_format[choices], task.choice_penalty[choices], table)
            _make(table, tables.operator if cost > 0 else tables.free_operator, cost if cost > 0 else 1.0, made)
        before = count
        if broker == task.root:
            insert(offers, count, count, 1 << task.published, table[1 << task.published])
            count += 1
        else:
            _send(table, tables.size, task.link_cost[broker], tables.whole)
            count = _find_offers(offers, tables.whole, table, count)
            _hand_over(tables, task.parent[broker], number)
        offers.first[broker] = before
        offers.end[broker] = count
        for offer in range(before, count):
            _note_made(offers, offer, made)
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
def _pay_for_want(bit: Ints, formats: Indices, penalties: Floats, table: Floats) -> None:
    """Add the least penalty among the formats of a set that satisfy a want."""
    if len(formats) == 1 and penalties[0] == 0.0:
        _require(table, 1 << bit[formats[0]])
        return
    for held in range(len(table)):
        least = np.inf
        for format, penalty in zip(formats, penalties):  # noqa: B905
            if bit[format] >= 0 and (held >> bit[format]) & 1:
                least = min(least, penalty)
        table[held] += least


@kernel
def _require(table: Floats, member: int) -> None:
    """Rule out the sets without a format."""
    for start in range(0, len(table), 2 * member):
        table[start : start + member] = np.inf


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
        f, others = 0, (len(table) - 1) ^ held
        while others:
            if others & 1:
                cost = table[held | (1 << f)] + compute_cost * operator[held, f]
                choice = f if cost < least else choice
                least = min(least, cost)
            f, others = f + 1, others >> 1
        table[held] = least
        made[held] = choice


@minimum_kernel
def _send(table: Floats, size: Floats, link_cost: float, whole: Floats) -> None:
    """Add what the link costs, and let every set's value become the least over its subsets."""
    for sent in range(len(table)):
        whole[sent] = table[sent] + (link_cost * size[sent] if size[sent] < np.inf else np.inf)
    table[:] = whole
    least_of_subsets(table)


@kernel
def _find_offers(offers: Offers, whole: Floats, least: Floats, count: int) -> int:
    """Append the sets that none of their subsets undercuts."""
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
