"""A bound on plans from below, better with every step: the wants share what everything costs.

However the weight of each edge of the multilayer graph is shared among the wants below it, no plan costs less than
all wants' shortest ways together, each want counting only its own shares. (That is the dual of the linear program
in which a flow leads from the root to every want.) A step lets every want offer more for the edges of its shortest
way; where the offers exceed what an edge weighs, all who pay for it pay equally less: projected subgradients.
The first shares are what dual ascent has charged.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel, summing_kernel
from polycast.model.problem import Floats, Indices, Ints, Singles
from polycast.place.arrays import Arrays
from polycast.place.dual_ascent import UNASKED
from polycast.place.region import Region

# By how much, at most, a sum of single precision may be off with every term.
ROUNDING = 2.0**-23

# Wants pay together no more than this part of what an edge weighs, so that rounding seldom lets them pay too much.
PAYABLE = 1.0 - 1e-6

# Rounds in which those who pay for an edge pay equally less; what is then left is taken in proportion.
LOWERINGS = 3


class Shares(NamedTuple):
    """What each want pays for each edge above it.

    The edges of a broker are its operators, then the formats on the link from its parent. All wants of a subtree
    stand side by side, so that every step is a vector operation over them.

    Parameters
    ----------
    first, below : (n,)
        The wants of a broker's subtree are ``first`` to ``first + below`` in an order of their own.
    rank : (wants,)
        Where each want of the problem stands in that order.
    start : (n + 1,)
        Where the columns of a broker begin; one for each want below it.
    paid
        For every broker a table of edges × wants below.
    way
        For every broker a table of formats × wants below: the length of the shortest way from a format there.
    step
        The operator with which that way begins; -1 for one that leads on as it is.
    """

    first: Ints
    below: Ints
    rank: Ints
    start: Ints
    paid: Singles
    way: Singles
    step: Indices


def shares_of(problem: Arrays) -> Shares:
    first, below, rank = _line_up(problem)
    start = np.concatenate(([0], np.cumsum(below)))
    edges, formats = len(problem.source) + len(problem.size), len(problem.size)
    return Shares(
        first,
        below,
        rank,
        start,
        paid=np.zeros(start[-1] * edges, np.float32),
        way=np.empty(start[-1] * formats, np.float32),
        step=np.full(start[-1] * formats, -1, np.int32),
    )


def values_of(problem: Arrays) -> int:
    """How many values the shares of a problem are."""
    _, below, _ = _line_up(problem)
    return int(below.sum()) * (len(problem.source) + 3 * len(problem.size))


@kernel
def _line_up(problem: Arrays) -> tuple[Ints, Ints, Ints]:
    below = problem.want_start[1:] - problem.want_start[:-1]
    for broker in problem.order[:0:-1]:
        below[problem.parent[broker]] += below[broker]
    first = np.zeros(len(below), np.int64)
    rank = np.empty(problem.want_start[-1], np.int64)
    for broker in problem.order:
        place = first[broker]
        for own in range(problem.want_start[broker], problem.want_start[broker + 1]):
            rank[own] = place
            place += 1
        for child in problem.children[problem.child_start[broker] : problem.child_start[broker + 1]]:
            first[child] = place
            place += below[child]
    return first, below, rank


@kernel
def paid_at(problem: Arrays, shares: Shares, broker: int) -> Singles:
    edges = len(problem.source) + len(problem.size)
    first, end = shares.start[broker] * edges, shares.start[broker + 1] * edges
    return shares.paid[first:end].reshape(edges, shares.below[broker])


@kernel
def _ways_at(problem: Arrays, shares: Shares, broker: int) -> tuple[Singles, Indices]:
    formats, below = len(problem.size), shares.below[broker]
    first, end = shares.start[broker] * formats, shares.start[broker + 1] * formats
    return shares.way[first:end].reshape(formats, below), shares.step[first:end].reshape(formats, below)


@kernel
def weights_at(problem: Arrays, broker: int) -> np.ndarray:
    operators = len(problem.source)
    weight = np.empty(operators + len(problem.size))
    weight[:operators] = problem.beta * problem.compute_cost[broker] * problem.operator_cost
    sending = problem.alpha * problem.link_cost[broker]
    weight[operators:] = np.where(problem.sendable, sending * problem.size, np.inf)
    return weight


@kernel
def find_ways(problem: Arrays, shares: Shares) -> float:
    """Find all shortest ways, from the leaves up, and return their lengths together."""
    done = np.empty(len(problem.source), np.int64)
    changed = np.empty(len(problem.size), np.int64)
    for position in range(len(problem.order) - 1, -1, -1):
        broker = problem.order[position]
        if shares.below[broker]:
            _meet_own_wants(problem, shares, broker)
            _relax(problem, shares, broker, done, changed)
            if broker != problem.root:
                _lead_up(problem, shares, broker)
    total, below = 0.0, shares.below[problem.root]
    start = shares.start[problem.root] * len(problem.size) + problem.published * below
    for length in shares.way[start : start + below]:
        total += length
    return total


@kernel
def _meet_own_wants(problem: Arrays, shares: Shares, broker: int) -> None:
    way, step = _ways_at(problem, shares, broker)
    own = problem.want_start[broker + 1] - problem.want_start[broker]
    step[:] = -1
    way[:, :own] = np.inf
    for i in range(own):
        want = problem.want_start[broker] + i
        for choice in range(problem.choice_start[want], problem.choice_start[want + 1]):
            format = problem.choice_format[choice]
            way[format, i] = min(way[format, i], np.float32(problem.choice_penalty[choice]))


@kernel
def _lead_up(problem: Arrays, shares: Shares, broker: int) -> None:
    formats, below, parent = len(problem.size), shares.below[broker], problem.parent[broker]
    way, paid = shares.way, shares.paid
    above = shares.start[parent] * formats + shares.first[broker] - shares.first[parent]
    here = shares.start[broker] * formats
    cost = shares.start[broker] * (formats + len(problem.source)) + len(problem.source) * below
    for format in range(formats):
        if problem.sendable[format]:
            for i in range(below):
                way[above + i] = way[here + i] + paid[cost + i]
        else:
            way[above : above + below] = np.inf
        above += shares.below[parent]
        here += below
        cost += below


@kernel
def _relax(problem: Arrays, shares: Shares, broker: int, done: Ints, changed: Ints) -> None:
    """Let the ways at a broker begin with operators where that makes them shorter."""
    start, operators, formats = shares.start[broker], len(problem.source), len(problem.size)
    _shorten(
        problem.source,
        problem.target,
        shares.paid[start * (operators + formats) :],
        shares.way[start * formats :],
        shares.step[start * formats :],
        shares.below[broker],
        done,
        changed,
    )


@kernel
def _shorten(
    source: Indices,
    target: Indices,
    paid: Singles,
    way: Singles,
    step: Indices,
    below: int,
    done: Ints,
    changed: Ints,
) -> None:
    """The loop over wants is one of vector operations, which it takes numbers without signs to be."""
    done[:] = -1
    changed[:] = 0
    wants = np.uint64(below)
    now, busy = 0, True
    while busy:
        busy = False
        for operator in range(len(source)):
            if changed[target[operator]] > done[operator]:
                now += 1
                done[operator] = now
                this, shorter = np.int32(operator), np.int32(0)
                cost, here = np.uint64(operator) * wants, np.uint64(source[operator]) * wants
                onward = np.uint64(target[operator]) * wants
                for i in range(wants):
                    length, before = paid[cost + i] + way[onward + i], way[here + i]
                    is_shorter = length < before
                    shorter |= np.int32(is_shorter)
                    step[here + i] = this if is_shorter else step[here + i]
                    way[here + i] = length if is_shorter else before
                if shorter:
                    changed[source[operator]] = now
                    busy = True


@kernel
def offer_more(problem: Arrays, shares: Shares, pace: float) -> None:
    """Let every want offer more for the edges of its shortest way, from the root down."""
    operators = len(problem.source)
    at = np.full(len(shares.rank), problem.published, np.int64)
    for broker in problem.order:
        below = shares.below[broker]
        if not below:
            continue
        _, step = _ways_at(problem, shares, broker)
        paid = paid_at(problem, shares, broker)
        weight = weights_at(problem, broker)
        more = (pace / below * weight).astype(np.float32)
        first = shares.first[broker]
        for i in range(below):
            format = at[first + i]
            if broker != problem.root:
                paid[operators + format, i] += more[operators + format]
            while step[format, i] >= 0:
                operator = step[format, i]
                paid[operator, i] += more[operator]
                format = problem.target[operator]
            at[first + i] = format


@kernel
def settle(problem: Arrays, shares: Shares) -> None:
    """Let all who pay for an edge pay equally less, until together they pay no more than it weighs."""
    for broker in problem.order:
        below = shares.below[broker]
        if below:
            weight = weights_at(problem, broker)
            first = shares.start[broker] * len(weight)
            _lower(shares.paid[first : first + below * len(weight)], weight, below)


@summing_kernel
def _lower(paid: Singles, weight: Floats, below: int) -> None:
    wants = np.uint64(below)
    for edge in range(len(weight)):
        first, most = np.uint64(edge) * wants, np.float32(weight[edge] * PAYABLE)
        for attempt in range(LOWERINGS + 1):
            total, payers = np.float32(0), np.int32(0)
            for i in range(wants):
                total += paid[first + i]
                payers += np.int32(paid[first + i] > 0)
            if total <= most:
                break
            if attempt < LOWERINGS:
                less = (total - most) / np.float32(payers)
                for i in range(wants):
                    paid[first + i] = max(np.float32(0), paid[first + i] - less)
            else:
                for i in range(wants):
                    paid[first + i] *= most / total


def bound_of(problem: Arrays, shares: Shares, ways: float) -> float:
    """What no plan costs less than, given the lengths of all shortest ways, less what rounding may have added."""
    edges = len(problem.size) * _levels(problem)
    return float(ways * (1.0 - ROUNDING * edges) - _overpaid(problem, shares))


@kernel
def _levels(problem: Arrays) -> int:
    level = np.ones(len(problem.parent), np.int64)
    for broker in problem.order[1:]:
        level[broker] = level[problem.parent[broker]] + 1
    return int(level.max())


@kernel
def _overpaid(problem: Arrays, shares: Shares) -> float:
    """By how much rounding has let wants pay more for edges than these weigh, all together."""
    over = 0.0
    for broker in problem.order:
        below = shares.below[broker]
        weight = weights_at(problem, broker)
        place = shares.start[broker] * len(weight)
        for edge in range(len(weight)):
            if below and weight[edge] < np.inf:
                total = 0.0
                for payment in shares.paid[place : place + below]:
                    total += payment
                over += max(0.0, total - weight[edge])
            place += below
    return over


@kernel
def columns_of(problem: Arrays, shares: Shares, region: Region) -> Ints:
    """Where in ``paid`` each edge of the whole graph stands, less the first want below; for dual ascent."""
    formats, operators = len(problem.size), len(problem.source)
    number = np.full((formats, formats), -1, np.int64)
    for operator in range(operators):
        number[problem.source[operator], problem.target[operator]] = operator
    graph = region.graph
    column = np.full(len(graph.head), UNASKED, np.int64)
    for edge, head in enumerate(graph.head):
        position, format = head // formats, head % formats
        if position < len(region.brokers):
            broker = region.brokers[position]
            makes = graph.tail[edge] // formats == position
            row = number[region.source[edge], format] if makes else operators + format
            first = shares.start[broker] * (operators + formats) + row * shares.below[broker]
            column[edge] = first - shares.first[broker]
    return column


@kernel
def places_of(problem: Arrays, shares: Shares, region: Region) -> Ints:
    """The rank of a want behind each terminal of the whole graph."""
    formats = len(problem.size)
    place = np.empty(len(region.graph.leaving_start) - 1, np.int64)
    vertex = len(region.brokers) * formats
    for position, broker in enumerate(region.brokers):
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            first = problem.choice_start[want]
            if problem.choice_start[want + 1] - first > 1:
                place[vertex] = shares.rank[want]
                vertex += 1
            else:
                place[position * formats + problem.choice_format[first]] = shares.rank[want]
    return place[region.terminals]


@kernel
def unpaid(problem: Arrays, shares: Shares, region: Region, column: Ints) -> Floats:
    """Which part of its weight nobody pays, for each edge of the whole graph: little on edges of good plans."""
    part = np.zeros(len(column))
    for edge, head in enumerate(region.graph.head):
        if column[edge] != UNASKED and region.graph.weight[edge] > 0:
            broker = region.brokers[head // len(problem.size)]
            first = column[edge] + shares.first[broker]
            total = shares.paid[first : first + shares.below[broker]].sum()
            part[edge] = max(0.0, 1.0 - total / region.graph.weight[edge])
    return part
