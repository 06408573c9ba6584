"""A lower bound on the average loss: what no choice of trees can get below.

A server's delay is that of its links, and the processing in all brokers above it. The links take at least the
shortest path from the source. For the processing let all links be free and all brokers as fast as the fastest. A
broker with `n` children that take messages keeps each message for at least `h(n)`, which grows with `n`; so the
`z` servers below a broker wait, there and further below, in sum at least

    f(z) = min over n of z · h(n) + n · c((z − n) / n),   f(0) = 0,

where `c` is the largest convex function below `f`: the children have `(z − n) / n` servers below them in the mean.
With the `h` of the source that is the least sum of the `m` shortest delays, as those who have them hang together;
and at best the servers with the highest weights have them. The bound is the sum of both parts. Where messages of
different objects are told apart (the precise form, or one tree for each object) it is the sum over all objects.

The work of adapting only adds to the delays, so that a bound without it holds with it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.servers import SOURCE, Flags, Floats, Servers

Sizes = npt.NDArray[np.int64]


class _Children(NamedTuple):
    """What the n-th child that takes messages costs a broker at least, in times to check and to send.

    ``per_message``: what it adds to the time for a message; ``per_second``: to the load.
    """

    checks_per_message: Floats
    sends_per_message: Floats
    checks_per_second: Floats
    sends_per_second: Floats


def lower_bound(servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE) -> float:
    """What the average loss is at least; infinite where every choice of trees overloads a broker."""
    if len(servers) < 2:
        return 0.0
    if not per_object and not model.precise:
        total = _one_tree(servers)
    else:
        objects = np.flatnonzero(servers.wanted.any(axis=0)).tolist()
        total = sum(_one_object(servers, x, per_object) for x in objects)
    return total / (len(servers) - 1)


def _one_tree(servers: Servers) -> float:
    """For the sum of the losses in one tree, in the approximate form."""
    wanting = servers.weights > 0
    if not wanting.any():
        return 0.0
    rates = np.where(servers.wanted, servers.rates, 0.0)[wanting]
    highest = servers.rates.max(axis=0)
    all_rates, own = float(highest.sum()), rates.sum(axis=1)
    passing, others = (rates > 0) @ highest, (rates == 0) @ highest  # what arrives at the source for each, or not
    at_source = _Children(passing / all_rates, own / all_rates, passing, own)
    elsewhere = _Children(own / (own + others), own / all_rates, own, own)
    everybody = np.ones(len(servers), np.bool_)
    keeping = _keep(servers, everybody, at_source, elsewhere, 0.0, all_rates)
    return _sum_up(servers.weights, shortest_paths(servers.delays, everybody), keeping)


def _one_object(servers: Servers, x: int, per_object: bool) -> float:
    """For the sum of all losses that one object adds to."""
    wanting = servers.wanted[:, x]
    highest = servers.rates.max(axis=0)
    own = servers.rates[wanting, x]
    checks, sends = np.ones(len(own)), own / highest[x]
    at_source = _Children(checks, sends, checks * highest[x], own)
    elsewhere = _Children(checks, sends, own, own)
    members = wanting | (np.arange(len(servers)) == SOURCE) | (not per_object)
    keeping = _keep(servers, members, at_source, elsewhere, _load_of_others(servers, x), float(highest.sum()))
    return _sum_up(servers.shares[:, x], shortest_paths(servers.delays, members), keeping)


def _load_of_others(servers: Servers, x: int) -> float:
    """The load of the source with one child for every other object that somebody wants."""
    wanted: Flags = np.array(servers.wanted.any(axis=0))
    wanted[x] = False
    checks = servers.rates.max(axis=0)[wanted].sum()
    sends = servers.rates[SOURCE + 1 :].max(axis=0)[wanted].sum()
    return float(servers.filter_time[SOURCE] * checks + servers.transmit_time[SOURCE] * sends)


class _Keeping(NamedTuple):
    """For how long the source, and any other broker, keep a message at least with 1, 2, … children."""

    source: Floats
    others: Floats


def _keep(
    servers: Servers, members: Flags, at_source: _Children, elsewhere: _Children, load: float, rate: float
) -> _Keeping:
    fast = _fast(servers, np.flatnonzero(members)[1:])
    source = _times(servers, np.array([SOURCE]), at_source, load, rate)
    return _Keeping(source, _times(servers, fast, elsewhere, 0.0, rate))


def _fast(servers: Servers, brokers: Sizes) -> Sizes:
    """Those of some brokers that are faster at something than each other one."""
    checks, sends = servers.filter_time[brokers], servers.transmit_time[brokers]
    order = np.lexsort((sends, checks))
    sends = sends[order]
    quickest = np.minimum.accumulate(np.concatenate(([np.inf], sends[:-1])))
    return np.asarray(brokers[order[sends < quickest]], np.int64)


def _times(servers: Servers, brokers: Sizes, children: _Children, load: float, rate: float) -> Floats:
    """h(1), h(2), … of the fastest of some brokers; ``rate`` is the most that can arrive.

    Of `n` children a message waits for `n - 1`.
    """
    check, send = servers.filter_time[brokers, None], servers.transmit_time[brokers, None]
    per_message = check * _least(children.checks_per_message) + send * _least(children.sends_per_message)
    load_with = check * _least(children.checks_per_second) + send * _least(children.sends_per_second) + load
    with np.errstate(divide="ignore", over="ignore"):
        waiting = np.where(load_with < 1, load_with**2 / ((1 - load_with) * rate), np.inf)
    before = np.hstack((np.zeros_like(check), per_message[:, :-1]))
    return np.asarray((waiting + before / 2 + check + send).min(axis=0), np.float64)


def _least(values: Floats) -> Floats:
    """The least sums of 1, 2, … of the values."""
    return np.asarray(np.cumsum(np.sort(values)), np.float64)


def _sum_up(weights: Floats, paths: Floats, keeping: _Keeping) -> float:
    heaviest = -np.sort(-weights[weights > 0])
    sums = _least_sums(keeping.source, keeping.others, len(heaviest))
    if np.isinf(sums[-1]):
        return np.inf
    return float(weights @ paths - np.diff(heaviest, append=0.0) @ sums)


@kernel
def _least_sums(source: Floats, others: Floats, servers: int) -> Floats:
    """The least sum of the 1, 2, … shortest delays, of so many servers."""
    below, sums = np.zeros(servers + 1), np.zeros(servers)
    corner, corners = np.zeros(servers + 1, np.int64), 1
    for z in range(1, servers + 1):
        sums[z - 1] = _least_sum(source, below, corner[:corners], z)
        below[z] = _least_sum(others, below, corner[:corners], z)
        if below[z] < np.inf:
            while corners > 1 and _is_above(below, corner[corners - 2], corner[corners - 1], z):
                corners -= 1
            corner[corners] = z
            corners += 1
    return sums


@kernel
def _least_sum(times: Floats, below: Floats, corner: Sizes, z: int) -> float:
    """The least sum of the delays of `z` servers below one that keeps messages for these times."""
    least = np.inf
    for n in range(1, z + 1):
        if z * times[n - 1] >= least:
            break
        least = min(least, z * times[n - 1] + n * _convex(below, corner, (z - n) / n))
    return float(least)


@kernel
def _convex(below: Floats, corner: Sizes, z: float) -> float:
    """The largest convex function that is nowhere above the sums, which touches them in the corners."""
    right = np.searchsorted(corner, z)
    if right == len(corner):
        return float(np.inf)
    q = corner[right]
    if q == z:
        return float(below[q])
    p = corner[right - 1]
    return float(below[p] + (below[q] - below[p]) * (z - p) / (q - p))


@kernel
def _is_above(below: Floats, p: int, q: int, z: int) -> bool:
    """Whether the sum of `q` is on the line between those of `p` and `z`, or above it."""
    return bool((below[q] - below[p]) * (z - p) >= (below[z] - below[p]) * (q - p))


@kernel
def shortest_paths(delays: Floats, members: Flags) -> Floats:
    """The least delay of any path from the source over members to each of them; 0 for the others."""
    paths = np.full(len(delays), np.inf)
    paths[SOURCE] = 0.0
    left = members.copy()
    while True:
        nearest = -1
        for v in range(len(paths)):
            if left[v] and (nearest < 0 or paths[v] < paths[nearest]):
                nearest = v
        if nearest < 0:
            break
        left[nearest] = False
        for v in range(len(paths)):
            if left[v]:
                paths[v] = min(paths[v], paths[nearest] + delays[nearest, v])
    return np.where(members, paths, 0.0)
