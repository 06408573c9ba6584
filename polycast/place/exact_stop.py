"""``stop(I)``: what a broker's own wants and the subtrees below it cost when it holds just the formats `I`.

A subtree takes the cheapest of its offers that fits into `I`, and a want the choice with the least penalty. With
the offers sorted by cost, that is the first cost, plus each further rise in cost where none of the offers before
it fits. "None of them fits" is a sum of terms ± [no format of T is in I], so that all wants and subtrees together
become weights on sets, and one sum over supersets gives ``stop`` for all `I` at once.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Floats, Indices, Ints
from polycast.place.exact_lattice import least_of_subsets, sum_of_supersets
from polycast.place.exact_offers import Offers, Sets
from polycast.place.exact_task import Task

MOST_TANGLED = 48
"""With more offers of several formats than this, a subtree's costs are spread over the lattice one by one."""


class Terms(NamedTuple):
    """A sum of terms ± [no format of T is in I].

    Parameters
    ----------
    times : (2^k,)
        How often a set T counts.
    listed
        The sets that may count, ``listed[:length]``; ``is_listed`` tells them from the others.
    """

    times: Floats
    is_listed: Sets
    listed: Ints


@kernel
def no_terms(k: int) -> Terms:
    return Terms(np.zeros(1 << k), np.zeros(1 << k, np.int32), np.empty(1 << k, np.int64))


@kernel
def stop(task: Task, offers: Offers, terms: Terms, broker: int, table: Floats, spare: Floats) -> None:
    """Fill a table with ``stop(I)`` for every set of formats that a broker may hold."""
    table[:] = 0.0
    for want in range(task.want_start[broker], task.want_start[broker + 1]):
        choices = slice(task.choice_start[want], task.choice_start[want + 1])
        _weigh_want(task.bit, task.choice_format[choices], task.choice_penalty[choices], table)
    for position in range(task.child_start[broker], task.child_start[broker + 1]):
        child = task.children[position]
        if _is_plain(offers, child):
            _weigh(offers, terms, child, table)
    sum_of_supersets(table)
    table[0] = np.inf
    for position in range(task.child_start[broker], task.child_start[broker + 1]):
        child = task.children[position]
        if offers.end[child] > offers.first[child] and not _is_plain(offers, child):
            _spread(offers, child, table, spare)


@kernel
def _weigh_want(bit: Ints, formats: Indices, penalties: Floats, table: Floats) -> None:
    """The same for a want: the least penalty of all, and each further rise where no better format is there."""
    absent, before = len(table) - 1, 0.0
    for choice in np.argsort(penalties):
        if bit[formats[choice]] >= 0:
            table[absent] += penalties[choice] - before
            absent &= ~(1 << bit[formats[choice]])
            before = penalties[choice]
    table[absent] = np.inf


@kernel
def _singles(offers: Offers, child: int) -> int:
    """The formats that suffice alone."""
    singles = 0
    for offer in range(offers.first[child], offers.end[child]):
        sent = offers.sets[offer]
        if sent & (sent - 1) == 0:
            singles |= sent
    return singles


@kernel
def _is_plain(offers: Offers, child: int) -> bool:
    """Whether every offer has a format that suffices alone, and few have several."""
    singles = _singles(offers, child)
    several = 0
    for offer in range(offers.first[child], offers.end[child]):
        sent = offers.sets[offer]
        if sent & singles == 0:
            return False
        several += sent & (sent - 1) != 0
    return singles != 0 and several <= MOST_TANGLED


@kernel
def _weigh(offers: Offers, terms: Terms, child: int, table: Floats) -> None:
    """Add a subtree's costs to a table of weights; a weight counts for all subsets of its set."""
    everything = len(table) - 1
    length = _list(terms, 0, 0, 1.0)
    before = 0.0
    for offer in range(offers.first[child], offers.end[child]):
        rise = offers.costs[offer] - before
        before = offers.costs[offer]
        for i in range(length):
            table[everything ^ terms.listed[i]] += rise * terms.times[terms.listed[i]]
        length = _unless(terms, length, offers.sets[offer])
    table[everything ^ _singles(offers, child)] = np.inf
    for i in range(length):
        terms.times[terms.listed[i]] = 0.0
        terms.is_listed[terms.listed[i]] = 0


@kernel
def _list(terms: Terms, length: int, absent: int, count: float) -> int:
    terms.times[absent] += count
    if terms.is_listed[absent]:
        return length
    terms.is_listed[absent] = 1
    terms.listed[length] = absent
    return length + 1


@kernel
def _unless(terms: Terms, length: int, sent: int) -> int:
    """Multiply the terms by [not all of a set is in I] ``= Σ_{∅≠X⊆set} (-1)^(|X|+1) [no format of X is in I]``."""
    for i in range(length):
        absent = terms.listed[i]
        count = terms.times[absent]
        if absent & sent == 0 and count != 0.0:
            terms.times[absent] = 0.0
            part = sent
            while part:
                length = _list(terms, length, absent | part, count if _is_odd(part) else -count)
                part = (part - 1) & sent
    kept = 0
    for i in range(length):
        absent = terms.listed[i]
        if terms.times[absent] != 0.0:
            terms.listed[kept] = absent
            kept += 1
        else:
            terms.is_listed[absent] = 0
    return kept


@kernel
def _is_odd(part: int) -> bool:
    odd = False
    while part:
        part &= part - 1
        odd = not odd
    return odd


@kernel
def _spread(offers: Offers, child: int, table: Floats, spare: Floats) -> None:
    spare[:] = np.inf
    for offer in range(offers.first[child], offers.end[child]):
        spare[offers.sets[offer]] = offers.costs[offer]
    least_of_subsets(spare)
    table += spare
