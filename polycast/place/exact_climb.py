"""The exact recursion, from the leaves to the root and back (DESIGN, *Exact placement*).

On the way up each link keeps only the sets that are worth sending over it: those that beat all of their own
subsets. On the way down each broker's lattice is computed a second time, for the one set that it receives.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices, Ints, Problem
from polycast.place.exact_lattice import LEAST_BITS, cheapest_operators, least_of_subsets, make_more

Sets = npt.NDArray[np.int32]


class Task(NamedTuple):
    """A problem over its relevant formats only, as kernels like it; `k` formats, each of them one bit of a set."""

    bit: Ints
    format: Ints
    size: Floats
    conversion: Floats
    high: Floats
    low: Floats
    free_high: Floats
    free_low: Floats
    published: int
    child_start: Ints
    children: Indices
    link_cost: Floats
    compute_cost: Floats
    want_start: Ints
    choice_start: Ints
    choice_format: Indices
    choice_penalty: Floats


class Offers(NamedTuple):
    """What each link may carry: the sets worth sending, and what the subtree then costs, the link included."""

    start: Ints
    stop: Ints
    sets: Sets
    costs: Floats


def task_of(problem: Problem, formats: npt.NDArray[np.int64]) -> Task:
    """Reduce a problem to some formats, filled up to three with formats that nobody can make or send."""
    k = max(LEAST_BITS, len(formats))
    bit = np.full(problem.formats, -1, np.int64)
    bit[formats] = np.arange(len(formats))
    size = np.full(k, np.inf)
    size[: len(formats)] = problem.size[formats]
    conversion = np.full((k, k), np.inf)
    conversion[: len(formats), : len(formats)] = problem.conversion[np.ix_(formats, formats)]
    high, low = cheapest_operators(conversion)
    free_high, free_low = cheapest_operators(np.where(np.isfinite(conversion), 0.0, np.inf))
    return Task(
        bit=bit,
        format=formats,
        size=size,
        conversion=conversion,
        high=high,
        low=low,
        free_high=free_high,
        free_low=free_low,
        published=int(bit[problem.published]),
        child_start=problem.child_start,
        children=problem.children,
        link_cost=problem.alpha * problem.link_cost,
        compute_cost=problem.beta * problem.compute_cost,
        want_start=problem.want_start,
        choice_start=problem.choice_start,
        choice_format=problem.choice_format,
        choice_penalty=problem.choice_penalty,
    )


@kernel
def wanting_brokers(task: Task, order: Indices) -> Indices:
    """The brokers whose subtree wants anything, in the given order (parents before children)."""
    wanting = np.zeros(len(order), np.bool_)
    count = 0
    for position in range(len(order) - 1, -1, -1):
        broker = order[position]
        wanting[broker] = task.want_start[broker + 1] > task.want_start[broker]
        for child in range(task.child_start[broker], task.child_start[broker + 1]):
            wanting[broker] |= wanting[task.children[child]]
        count += wanting[broker]
    found = np.empty(count, np.int32)
    count = 0
    for broker in order:
        if wanting[broker]:
            found[count] = broker
            count += 1
    return found


@kernel
def _stop(task: Task, offers: Offers, broker: int, table: Floats, spare: Floats) -> None:
    """``stop(I)``: what the wants and the subtrees below cost when the broker holds just `I`."""
    table[:] = 0.0
    for want in range(task.want_start[broker], task.want_start[broker + 1]):
        _pay_for_want(task, want, table)
    for position in range(task.child_start[broker], task.child_start[broker + 1]):
        child = task.children[position]
        if offers.stop[child] > offers.start[child]:
            spare[:] = np.inf
            for offer in range(offers.start[child], offers.stop[child]):
                spare[offers.sets[offer]] = offers.costs[offer]
            least_of_subsets(spare)
            table += spare


@kernel
def _pay_for_want(task: Task, want: int, table: Floats) -> None:
    for held in range(len(table)):
        least = np.inf
        for choice in range(task.choice_start[want], task.choice_start[want + 1]):
            bit = task.bit[task.choice_format[choice]]
            if bit >= 0 and (held >> bit) & 1:
                least = min(least, task.choice_penalty[choice])
        table[held] += least


@kernel
def _make(task: Task, broker: int, table: Floats) -> None:
    cost = task.compute_cost[broker]
    if cost > 0:
        make_more(table, task.high, task.low, cost)
    else:
        make_more(table, task.free_high, task.free_low, 1.0)


@kernel
def _offer(task: Task, offers: Offers, broker: int, table: Floats, spare: Floats, count: int) -> int:
    """Keep the sets that are worth sending to a broker; return where the kept ones end."""
    k = len(task.size)
    spare[0] = 0.0
    for bit in range(k):
        half = 1 << bit
        price = task.link_cost[broker] * task.size[bit] if np.isfinite(task.size[bit]) else np.inf
        for rest in range(half):
            spare[half + rest] = spare[rest] + price
    table += spare
    spare[:] = table
    least_of_subsets(spare)
    offers.start[broker] = count
    for sent in range(len(table)):
        if table[sent] == spare[sent] and table[sent] < np.inf and _beats_its_subsets(spare, sent, k):
            offers.sets[count] = sent
            offers.costs[count] = table[sent]
            count += 1
    offers.stop[broker] = count
    return count


@kernel
def _beats_its_subsets(least: Floats, sent: int, k: int) -> bool:
    for bit in range(k):  # noqa: SIM110 (a kernel has no generators)
        if (sent >> bit) & 1 and least[sent ^ (1 << bit)] <= least[sent]:
            return False
    return True


@kernel
def climb(task: Task, offers: Offers, brokers: Indices, first: int, last: int, count: int) -> int:
    """Find what each link may carry, for the brokers at positions `first` down to `last` (children first)."""
    table = np.empty(1 << len(task.size))
    spare = np.empty_like(table)
    for position in range(first, last - 1, -1):
        broker = brokers[position]
        _stop(task, offers, broker, table, spare)
        _make(task, broker, table)
        count = _offer(task, offers, broker, table, spare, count)
    return count


@kernel
def descend(
    task: Task,
    offers: Offers,
    brokers: Indices,
    first: int,
    last: int,
    received: Sets,
    receives: Flags,
    made_from: Indices,
    delivered: Indices,
) -> None:
    """Choose what the brokers at positions `first` to `last` (parents first) make, deliver and send."""
    table = np.empty(1 << len(task.size))
    stop = np.empty_like(table)
    for position in range(first, last):
        broker = brokers[position]
        _stop(task, offers, broker, stop, table)
        table[:] = stop
        _make(task, broker, table)
        held = received[broker]
        for bit in range(len(task.format)):
            receives[broker, task.format[bit]] = (held >> bit) & 1
        held = _choose_made(task, broker, held, stop, table, made_from)
        _choose_delivered(task, broker, held, delivered)
        for place in range(task.child_start[broker], task.child_start[broker + 1]):
            child = task.children[place]
            received[child] = _choose_sent(offers, child, held)


@kernel
def _choose_made(task: Task, broker: int, held: int, stop: Floats, table: Floats, made_from: Indices) -> int:
    cost = task.compute_cost[broker]
    while True:
        best, made, source = stop[held], -1, -1
        for f in range(len(task.format)):
            if (held >> f) & 1:
                continue
            for g in range(len(task.format)):
                if (held >> g) & 1 and task.conversion[g, f] < np.inf:
                    value = table[held | (1 << f)] + cost * task.conversion[g, f]
                    if value < best:
                        best, made, source = value, f, g
        if made < 0:
            return held
        made_from[broker, task.format[made]] = task.format[source]
        held |= 1 << made


@kernel
def _choose_delivered(task: Task, broker: int, held: int, delivered: Indices) -> None:
    for want in range(task.want_start[broker], task.want_start[broker + 1]):
        least = np.inf
        for choice in range(task.choice_start[want], task.choice_start[want + 1]):
            bit = task.bit[task.choice_format[choice]]
            if bit >= 0 and (held >> bit) & 1 and task.choice_penalty[choice] < least:
                least = task.choice_penalty[choice]
                delivered[want] = task.choice_format[choice]


@kernel
def _choose_sent(offers: Offers, child: int, held: int) -> int:
    least = np.inf
    sent = 0
    for offer in range(offers.start[child], offers.stop[child]):
        if offers.sets[offer] & ~held == 0 and offers.costs[offer] < least:
            least = offers.costs[offer]
            sent = offers.sets[offer]
    return sent
