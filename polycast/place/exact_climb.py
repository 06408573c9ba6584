"""The exact recursion, from the leaves to the root and back (DESIGN, *Exact placement*)."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices
from polycast.place.exact_few import Few, descend_few, grow, trees
from polycast.place.exact_lattice import make_more
from polycast.place.exact_offers import Offers, Sets, Trial, find_offers, room_for_trial
from polycast.place.exact_stop import no_terms, stop
from polycast.place.exact_task import Task


@kernel
def climb(task: Task, few: Few, offers: Offers, brokers: Indices, first: int, last: int, count: int) -> int:
    """Find what each link may carry, for the brokers at positions `first` down to `last` (children first).

    Returns the number of offers; before it runs out of room it stops early, as ``offers.end`` shows.
    """
    k = len(task.size)
    table = np.empty(1 << k)
    spare = np.empty(1 << k)
    terms = no_terms(k)
    trial = room_for_trial(k)
    making = np.empty(k)
    for position in range(first, last - 1, -1):
        broker = brokers[position]
        if few.wants[broker] >= 0:
            count = _climb_few(task, few, offers, trial, broker, count)
            continue
        stop(task, offers, terms, broker, table, spare)
        _make(task, broker, table)
        before = count
        if broker == task.root:
            count = _offer_published(task, offers, table[1 << task.published], count)
        else:
            count = find_offers(task, few, offers, trial, broker, table, count)
        for offer in range(before, count):
            offers.made_first[offer + 1] = _note_made(task, offers, broker, offer, table, making)
    return count


@kernel
def _climb_few(task: Task, few: Few, offers: Offers, trial: Trial, broker: int, count: int) -> int:
    """The same for a broker whose subtree wants little. Only where more is wanted above are offers needed."""
    before = count
    grow(task, few, broker)
    if broker == task.root:
        count = _offer_published(task, offers, trees(task, few, broker)[-1, task.published], count)
    elif few.wants[task.parent[broker]] < 0:
        count = find_offers(task, few, offers, trial, broker, np.empty(0), count)
    for offer in range(before, count):
        offers.made_first[offer + 1] = offers.made_first[offer]
    return count


@kernel
def _make(task: Task, broker: int, table: Floats) -> None:
    cost = task.compute_cost[broker]
    if cost > 0:
        make_more(table, task.high, task.low, cost)
    else:
        make_more(table, task.free_high, task.free_low, 1.0)


@kernel
def _offer_published(task: Task, offers: Offers, cost: float, count: int) -> int:
    offers.first[task.root] = count
    offers.end[task.root] = count + 1
    offers.sets[count] = 1 << task.published
    offers.costs[count] = cost
    return count + 1


@kernel
def _note_made(task: Task, offers: Offers, broker: int, offer: int, table: Floats, making: Floats) -> int:
    """Note what a broker makes if it is offered a set, format by format; return where the notes end."""
    held = int(offers.sets[offer])
    end = int(offers.made_first[offer])
    making[:] = np.inf
    for f in range(len(making)):
        if (held >> f) & 1:
            _make_cheaper(task, broker, f, making)
    while True:
        best, made = np.inf, -1
        for f in range(len(making)):
            if not (held >> f) & 1 and table[held | (1 << f)] + making[f] < best:
                best, made = table[held | (1 << f)] + making[f], f
        if made < 0 or best > table[held]:
            return end
        offers.made[end] = made
        end += 1
        held |= 1 << made
        _make_cheaper(task, broker, made, making)


@kernel
def _make_cheaper(task: Task, broker: int, source: int, making: Floats) -> None:
    """Note what a broker can make for less from one more format."""
    cost = task.compute_cost[broker]
    for f in range(len(making)):
        if task.conversion[source, f] < np.inf:
            making[f] = min(making[f], cost * task.conversion[source, f])


@kernel
def cheapest_source(task: Task, held: int, target: int) -> int:
    """The format from which a broker makes another; -1 if it cannot."""
    best, source = np.inf, -1
    for g in range(len(task.size)):
        if (held >> g) & 1 and task.conversion[g, target] < best:
            best, source = task.conversion[g, target], g
    return source


@kernel
def descend(
    task: Task,
    few: Few,
    offers: Offers,
    brokers: Indices,
    chosen: Sets,
    receives: Flags,
    made_from: Indices,
    delivered: Indices,
) -> None:
    """Choose among the offers from the root down (parents first), and write down the plan."""
    chosen[task.root] = offers.first[task.root]
    for broker in brokers:
        offer = chosen[broker]
        if offer < 0:
            continue
        held = int(offers.sets[offer])
        for bit in range(len(task.format)):
            if (held >> bit) & 1:
                receives[broker, task.format[bit]] = True
        if few.wants[broker] >= 0:
            descend_few(task, few, broker, held, receives, made_from, delivered)
            continue
        for note in range(offers.made_first[offer], offers.made_first[offer + 1]):
            made = offers.made[note]
            made_from[broker, task.format[made]] = task.format[cheapest_source(task, held, made)]
            held |= 1 << made
        used = _choose_delivered(task, broker, held, delivered)
        for place in range(task.child_start[broker], task.child_start[broker + 1]):
            child = task.children[place]
            if offers.end[child] > offers.first[child]:
                chosen[child] = _choose_offer(offers, child, held)
                used |= offers.sets[chosen[child]]
        _forget_unused(task, offers, broker, offer, used, made_from)


@kernel
def _forget_unused(task: Task, offers: Offers, broker: int, offer: int, used: int, made_from: Indices) -> None:
    """Take back what a broker made for nothing, as it may where conversions are free."""
    for note in range(offers.made_first[offer + 1] - 1, offers.made_first[offer] - 1, -1):
        made = offers.made[note]
        if (used >> made) & 1:
            used |= 1 << task.bit[made_from[broker, task.format[made]]]
        else:
            made_from[broker, task.format[made]] = -1


@kernel
def _choose_offer(offers: Offers, child: int, held: int) -> int:
    """The first offer that fits: they are sorted by cost."""
    for offer in range(offers.first[child], offers.end[child]):
        if offers.sets[offer] & ~held == 0:
            return offer
    return -1


@kernel
def _choose_delivered(task: Task, broker: int, held: int, delivered: Indices) -> int:
    """Give every want the best that is held, and return the formats that are used so."""
    used = 0
    for want in range(task.want_start[broker], task.want_start[broker + 1]):
        least = np.inf
        for choice in range(task.choice_start[want], task.choice_start[want + 1]):
            bit = task.bit[task.choice_format[choice]]
            if bit >= 0 and (held >> bit) & 1 and task.choice_penalty[choice] < least:
                least = task.choice_penalty[choice]
                delivered[want] = task.choice_format[choice]
        used |= 1 << task.bit[delivered[want]]
    return used
