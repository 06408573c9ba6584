"""A lower bound on the average loss: what no choice of trees can get below.

A server's delay is that of its links, and the processing in all brokers above it. The links take at least the
shortest path from the source. For the processing let all links be free and all brokers as fast as the fastest. A
broker with `n` children that take messages keeps each message for at least `h(n)`, which grows with `n`; so within
a time `x` a message reaches no more than

    A(x) = max over n of n · (1 + A(x − h(n)))

servers below a broker. The k-th server to be reached waits at least for the least `x` with `A(x) ≥ k`, and at best
the servers with the highest weights are the first. The bound is the sum of both parts. Where messages of different
objects are told apart (the precise form, or one tree for each object) every object has a bound of its own.

The work of adapting only adds to the delays, so that a bound without it holds with it.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.servers import SOURCE, Flags, Floats, Servers

STEPS = 4096  # of time, at least; delays are rounded down to whole steps


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
    passing, others = (
        (rates > 0) @ highest,
        (rates == 0) @ highest,
    )  # of what arrives at the source: for it, or not
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
    checks, sends = servers.filter_time, servers.transmit_time
    brokers = np.flatnonzero(members)[1:]
    return _Keeping(
        _times(float(checks[SOURCE]), float(sends[SOURCE]), at_source, load, rate),
        _times(float(checks[brokers].min()), float(sends[brokers].min()), elsewhere, 0.0, rate),
    )


def _times(check: float, send: float, children: _Children, load: float, rate: float) -> Floats:
    """h(1), h(2), …; ``rate`` is the most that can arrive. Of `n` children a message waits for `n - 1`."""
    per_message = check * _least(children.checks_per_message) + send * _least(children.sends_per_message)
    per_second = check * _least(children.checks_per_second) + send * _least(children.sends_per_second)
    load_with = per_second + load
    with np.errstate(divide="ignore", over="ignore"):
        waiting = np.where(load_with < 1, load_with**2 / ((1 - load_with) * rate), np.inf)
    before = np.concatenate(([0.0], per_message[:-1]))
    return np.asarray(waiting + before / 2 + check + send, np.float64)


def _least(values: Floats) -> Floats:
    """The least sums of 1, 2, … of the values."""
    return np.asarray(np.cumsum(np.sort(values)), np.float64)


def _sum_up(weights: Floats, paths: Floats, keeping: _Keeping) -> float:
    heaviest = -np.sort(-weights[weights > 0])
    reached = _reach_times(keeping, len(heaviest))
    return float(weights @ paths + heaviest @ reached)


def _reach_times(keeping: _Keeping, servers: int) -> Floats:
    """The least time after which 1, 2, … servers are reached."""
    horizon = _enough(keeping, servers)
    if not np.isfinite(horizon):
        return np.full(servers, np.inf)
    if horizon <= 0:
        return np.zeros(servers)
    steps = max(STEPS, 4 * servers)
    step = horizon / steps
    source, others = (
        np.floor(np.minimum(times / step, 2 * steps)).astype(np.int64)
        for times in (keeping.source, keeping.others)
    )
    return _earliest(source, others, servers, steps) * step


def _enough(keeping: _Keeping, servers: int) -> float:
    """A time in which all servers can be reached: by brokers with the same number of children everywhere."""
    number = np.arange(1, servers + 1)
    levels = np.ceil(np.log(servers) / np.log(np.maximum(number, 2)))
    levels[0] = servers
    even = keeping.source + np.where(np.isfinite(keeping.others), levels * keeping.others, np.inf)
    return float(min(even.min(), keeping.source[-1]))


@kernel
def _earliest(source: np.ndarray, others: np.ndarray, servers: int, steps: int) -> Floats:
    """The steps after which 1, 2, … servers can be reached; all times in steps."""
    below = np.zeros(steps + 1, np.int64)
    earliest = np.full(servers, float(steps))
    known = 0
    for x in range(steps + 1):
        most = 0
        for n in range(len(others)):
            if others[n] > x or most >= servers:
                break
            further = below[x - others[n]] if others[n] > 0 else servers
            most = max(most, (n + 1) * (1 + further))
        below[x] = min(most, servers)
        most = 0
        for n in range(len(source)):
            if source[n] > x or most >= servers:
                break
            most = max(most, (n + 1) * (1 + below[x - source[n]]))
        while known < min(most, servers):
            earliest[known] = x
            known += 1
        if known == servers:
            break
    return earliest


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
