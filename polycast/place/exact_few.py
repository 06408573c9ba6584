"""Subtrees that want little: instead of all sets of formats that a broker may hold, all sets of their wants.

Let ``T(A, f)`` be the least cost of meeting the wants `A` of a subtree from the one format `f` at its broker. The
recursion is that of Dreyfus and Wagner, level by level: `A` is met by the subtree of one child, or in two parts,
or from another format that is made of `f`. A set of formats then shares the wants among its members.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel, minimum_kernel
from polycast.model.problem import Flags, Floats, Indices, Ints
from polycast.place.exact_task import Task

# About how many values of a table one share of the wants among two formats is worth.
PRICE = 20

# Values of T that are kept at most for all brokers together: a quarter of a gigabyte.
ROOM = 1 << 25


class Few(NamedTuple):
    """``T`` of all brokers whose subtrees want little.

    Parameters
    ----------
    wants : (n,)
        How many wants the subtree of a broker has; -1 if they are not few.
    first : (n,)
        Where the values of a broker begin.
    value
        ``T(A, f)`` of a broker is ``value[first + A·k + f]``; its own wants are the lowest bits of `A`, those of
        its children follow in the children's order.
    """

    wants: Ints
    first: Ints
    value: Floats


class Share(NamedTuple):
    """The wants of one subtree, shared among the members of a set of formats, so that each member meets some.

    Parameters
    ----------
    alone : (k, 2^t)
        ``T`` of the broker, format by format; infinite for no wants.
    helped : (k, 2^t)
        What wants cost at least if a format meets some of them, and any others, which must be sent too, the rest.
    cost : (k + 1, 2^t)
        What wants cost if shared among the first members of the set: none, one, two and so on.
    """

    alone: Floats
    helped: Floats
    cost: Floats


def most_wants(k: int, brokers: int) -> int:
    """With how many wants a subtree is worth this: sharing them takes 3^t steps, a table 2^k."""
    most = 0
    while PRICE * 3 ** (most + 1) <= 2**k and (brokers * k) << (most + 1) <= ROOM:
        most += 1
    return most


def few_of(task: Task, brokers: Indices, most: int) -> Few:
    wants = _count_wants(task, brokers, most)
    room = np.where(wants >= 0, len(task.size) << np.maximum(wants, 0), 0)
    first = np.concatenate(([0], np.cumsum(room)))
    return Few(wants, first[:-1], np.empty(first[-1]))


@kernel
def _count_wants(task: Task, brokers: Indices, most: int) -> Ints:
    """The wants of every broker's subtree; -1 if there are more than so many, or none at all."""
    count = np.zeros(len(task.link_cost), np.int64)
    for broker in brokers[::-1]:
        count[broker] += task.want_start[broker + 1] - task.want_start[broker]
        for place in range(task.child_start[broker], task.child_start[broker + 1]):
            count[broker] = min(count[broker] + count[task.children[place]], most + 1)
    for broker in range(len(count)):
        if count[broker] > most or (count[broker] == 0 and broker != task.root):
            count[broker] = -1
    return count


@kernel
def trees(task: Task, few: Few, broker: int) -> Floats:
    """``T`` of a broker."""
    k = len(task.size)
    first = few.first[broker]
    return few.value[first : first + (k << few.wants[broker])].reshape(1 << few.wants[broker], k)


@kernel
def grow(task: Task, few: Few, broker: int) -> None:
    """Find ``T`` of a broker, whose children have theirs."""
    tree = trees(task, few, broker)
    step = making(task, broker)
    tree[:] = np.inf
    tree[0] = 0.0
    _pay_for_wants(task, broker, tree)
    shift = task.want_start[broker + 1] - task.want_start[broker]
    for place in range(task.child_start[broker], task.child_start[broker + 1]):
        child = task.children[place]
        if few.wants[child] >= 0:
            below = trees(task, few, child)
            for f in range(len(task.size)):
                sending = task.link_cost[child] * task.size[f] if task.size[f] < np.inf else np.inf
                for some in range(1, len(below)):
                    tree[some << shift, f] = sending + below[some, f]
            shift += few.wants[child]
    for some in range(1, len(tree)):
        _split(tree, some)
        _convert(tree[some], step)


@kernel
def making(task: Task, broker: int) -> Floats:
    """What it costs a broker to make a format (row) from another (column) by a chain of operators."""
    step = np.empty((len(task.size), len(task.size)))
    for source in range(len(step)):
        for target in range(len(step)):
            cost = task.chain[source, target]
            step[target, source] = task.compute_cost[broker] * cost if cost < np.inf else np.inf
    return step


@kernel
def _pay_for_wants(task: Task, broker: int, tree: Floats) -> None:
    for want in range(task.want_start[broker], task.want_start[broker + 1]):
        row = tree[1 << (want - task.want_start[broker])]
        for choice in range(task.choice_start[want], task.choice_start[want + 1]):
            bit = task.bit[task.choice_format[choice]]
            if bit >= 0:
                row[bit] = min(row[bit], task.choice_penalty[choice])


@minimum_kernel
def _split(tree: Floats, some: int) -> None:
    lowest = some & -some
    part = (some - 1) & some
    while part:
        if part & lowest:
            for f in range(tree.shape[1]):
                tree[some, f] = min(tree[some, f], tree[part, f] + tree[some ^ part, f])
        part = (part - 1) & some


@minimum_kernel
def _convert(row: Floats, step: Floats) -> None:
    before = row.copy()
    for target in range(len(row)):
        for f in range(len(row)):
            row[f] = min(row[f], before[target] + step[target, f])


@kernel
def share_of(task: Task, few: Few, broker: int) -> Share:
    """Nothing is shared yet, and nobody asks for bounds."""
    alone = trees(task, few, broker).T.copy()
    alone[:, 0] = np.inf
    cost = np.full((len(alone) + 1, alone.shape[1]), np.inf)
    cost[0, 0] = 0.0
    return Share(alone, np.empty((0, 0)), cost)


@kernel
def bounded_share_of(task: Task, few: Few, broker: int, price: Floats) -> Share:
    """The same with bounds; ``price`` is what sending each format costs."""
    tree = trees(task, few, broker)
    sharing = share_of(task, few, broker)
    return Share(sharing.alone, _help(tree, _pay(tree, price)).T.copy(), sharing.cost)


@minimum_kernel
def _pay(tree: Floats, price: Floats) -> Floats:
    """What wants cost at least with whatever is sent for them."""
    paid, one = np.zeros(len(tree)), np.full(len(tree), np.inf)
    for some in range(1, len(tree)):
        for f in range(len(price)):
            one[some] = min(one[some], price[f] + tree[some, f])
        paid[some] = one[some]
        part = (some - 1) & some
        while part:
            paid[some] = min(paid[some], one[part] + paid[some ^ part])
            part = (part - 1) & some
    return paid


@minimum_kernel
def _help(tree: Floats, paid: Floats) -> Floats:
    helped = np.full(tree.shape, np.inf)
    for some in range(1, len(tree)):
        part = some
        while part:
            for f in range(tree.shape[1]):
                helped[some, f] = min(helped[some, f], tree[part, f] + paid[some ^ part])
            part = (part - 1) & some
    return helped


@minimum_kernel
def weigh(sharing: Share, members: int, f: int) -> tuple[float, float]:
    """What all wants cost if another member joins the first ones of a set, and at least if more join."""
    before, alone, helped = sharing.cost[members], sharing.alone[f], sharing.helped[f]
    everything = len(before) - 1
    cost, bound = np.inf, np.inf
    for some in range(len(before)):
        cost = min(cost, before[some] + alone[everything - some])
        bound = min(bound, before[some] + helped[everything - some])
    return cost, bound


@minimum_kernel
def join(sharing: Share, members: int, f: int) -> None:
    """Let another member join the first ones of a set."""
    alone, before, after = sharing.alone[f], sharing.cost[members], sharing.cost[members + 1]
    for some in range(len(before)):
        least = np.inf
        part = some
        while part:
            least = min(least, before[some ^ part] + alone[part])
            part = (part - 1) & some
        after[some] = least


@kernel
def descend_few(
    task: Task, few: Few, top: int, held: int, receives: Flags, made_from: Indices, delivered: Indices
) -> None:
    """Write down the plan of a subtree that wants little, given what its top receives."""
    waiting = _shares(task, few, top, held)
    while len(waiting):
        broker, f, some = waiting.pop()
        start, part, child = _best_start(task, few, broker, f, some)
        _make_by_chain(task, broker, f, start, receives, made_from)
        format = task.format[start]
        if part:
            waiting.append((broker, start, part))
            waiting.append((broker, start, some ^ part))
        elif child >= 0:
            receives[child, format] |= made_from[child, format] < 0
            waiting.append((child, start, some >> _shift(task, few, broker, child)))
        else:
            delivered[task.want_start[broker] + lowest(some)] = format


@kernel
def _shares(task: Task, few: Few, top: int, held: int) -> list[tuple[int, int, int]]:
    """Which of the received formats meets which wants."""
    sharing = share_of(task, few, top)
    members = [f for f in range(len(task.size)) if (held >> f) & 1]
    for place, f in enumerate(members):
        join(sharing, place, f)
    shares = [(0, 0, 0) for _ in range(0)]
    some = sharing.alone.shape[1] - 1
    for place in range(len(members) - 1, -1, -1):
        best, part = np.inf, 0
        more = some
        while more:
            cost = sharing.cost[place, some ^ more] + sharing.alone[members[place], more]
            if cost < best:
                best, part = cost, more
            more = (more - 1) & some
        if part:
            shares.append((top, members[place], part))
        some ^= part
    return shares


@kernel
def _best_start(task: Task, few: Few, broker: int, f: int, some: int) -> tuple[int, int, int]:
    """The format to make first of the one at hand, perhaps itself, and the way on from there."""
    tree = trees(task, few, broker)
    start = f
    best, part, child = _way_on(task, few, broker, f, some)
    for target in range(len(task.size)):
        if task.chain[f, target] < np.inf:
            step = task.compute_cost[broker] * task.chain[f, target]
            if step + tree[some, target] <= tree[some, f]:
                cost, its_part, its_child = _way_on(task, few, broker, target, some)
                if step + cost < best:
                    start, best, part, child = target, step + cost, its_part, its_child
    return start, part, child


@kernel
def _way_on(task: Task, few: Few, broker: int, f: int, some: int) -> tuple[float, int, int]:
    """The cheapest way to meet some wants from a format without making another before they part.

    Either a part of the wants is met apart from the others, or a child meets all of them. Without part and child
    the format is itself what the only want asks for.
    """
    tree = trees(task, few, broker)
    best, best_part, best_child = np.inf, 0, -1
    part = (some - 1) & some
    while part:
        if tree[part, f] + tree[some ^ part, f] < best:
            best, best_part = tree[part, f] + tree[some ^ part, f], part
        part = (part - 1) & some
    shift = task.want_start[broker + 1] - task.want_start[broker]
    if some >> shift == 0 and some & (some - 1) == 0:
        return _penalty(task, task.want_start[broker] + lowest(some), f), 0, -1
    for place in range(task.child_start[broker], task.child_start[broker + 1]):
        child = task.children[place]
        if few.wants[child] >= 0:
            below = some >> shift
            if below << shift == some and below >> few.wants[child] == 0:
                cost = task.link_cost[child] * task.size[f] + trees(task, few, child)[below, f]
                if task.size[f] < np.inf and cost < best:
                    best, best_part, best_child = cost, 0, child
            shift += few.wants[child]
    return best, best_part, best_child


@kernel
def _penalty(task: Task, want: int, f: int) -> float:
    least = np.inf
    for choice in range(task.choice_start[want], task.choice_start[want + 1]):
        if task.bit[task.choice_format[choice]] == f:
            least = min(least, task.choice_penalty[choice])
    return least


@kernel
def lowest(some: int) -> int:
    position = 0
    while not (some >> position) & 1:
        position += 1
    return position


@kernel
def _shift(task: Task, few: Few, broker: int, child: int) -> int:
    """Where the wants of a child begin among those of a broker."""
    shift = task.want_start[broker + 1] - task.want_start[broker]
    for place in range(task.child_start[broker], task.child_start[broker + 1]):
        if task.children[place] == child:
            break
        shift += max(few.wants[task.children[place]], 0)
    return int(shift)


@kernel
def _make_by_chain(task: Task, broker: int, source: int, target: int, receives: Flags, made_from: Indices) -> None:
    """Let a broker make a format, and on the way whatever it does not have yet."""
    while target != source:
        format = task.format[target]
        if receives[broker, format] or made_from[broker, format] >= 0:
            return
        target = task.before[source, target]
        made_from[broker, format] = task.format[target]


@kernel
def nothing_to_share() -> Share:
    return Share(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))
