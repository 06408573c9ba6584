"""Attachment: every method on networks as in Overlay's section VI, and how far it is from the cheapest.

All times are of one processor, so that neighbours on a busy machine do not count.
"""

import resource
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.table import Report, readable
from polycast.overlay.attachment import Overlay
from polycast.overlay.channels import ContentSpace, quadratics, random_quadratics
from polycast.overlay.core import core_of, extension, span
from polycast.overlay.migration import settle
from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.networks import power_law, sites
from polycast.overlay.search import Search
from polycast.overlay.solve import METHODS, solve
from polycast.overlay.warm import warm

SEEDS = range(4)
GOALS = {"greedy": 0.05, "cluster": 0.5, "mix": 2.0, "local": 10.0}


def paper_network(users: int, brokers: int, channels: int = 100, seed: int = 0) -> Overlay:
    """Brokers on a power-law network, random quadratics and intervals, capacities twice the demand in sum."""
    rng = np.random.default_rng(seed)
    access, core = sites(power_law(max(1000, 3 * brokers), seed), brokers, users, seed)
    space = ContentSpace(cells=(channels,))
    ends = np.sort(rng.random((users, 2)), axis=1)
    overlay = Overlay(
        publishes=quadratics(space, *random_quadratics(users, rng)),
        interest=space.interest(ends[:, :1], ends[:, 1:]),
        access_cost=access,
        core_cost=core,
        capacity=np.full(brokers, np.inf),
    )
    return replace(overlay, capacity=np.full(brokers, 2 * overlay.demand.sum() / brokers))


def large_network(users: int, brokers: int, channels: int = 100, seed: int = 0) -> Overlay:
    """The same on a plane, in parts and with access costs in single precision, so that it fits into memory."""
    rng = np.random.default_rng(seed)
    places, space = rng.random((brokers, 2), np.float32), ContentSpace(cells=(channels,))
    access, publishes = np.empty((users, brokers), np.float32), np.empty((users, channels))
    interest = np.empty((users, channels), np.bool_)
    for part in np.array_split(np.arange(users), max(1, users // 5_000)):
        access[part] = np.hypot(*(rng.random((len(part), 1, 2), np.float32) - places).transpose(2, 0, 1))
        publishes[part] = quadratics(space, *random_quadratics(len(part), rng))
        ends = np.sort(rng.random((len(part), 2)), axis=1)
        interest[part] = space.interest(ends[:, :1], ends[:, 1:])
    core = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    overlay = Overlay(publishes, interest, access, core, np.full(brokers, np.inf))
    return replace(overlay, capacity=np.full(brokers, 2 * overlay.demand.sum() / brokers))


def processor_seconds(work: Callable[[], object], repeat: int = 2) -> float:
    """The least time of several runs on the processor."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    warm()
    report = Report("Overlay: attachment (one core, warm)")
    _methods(report)
    _sharing(report)
    _migration(report)
    _exact(report)
    _relays(report)
    _large(report)
    report.show()


def _methods(report: Report) -> None:
    networks = [paper_network(10_000, 100, seed=seed) for seed in SEEDS]
    costs, bounds = {}, np.zeros(len(networks))
    for method in ("random", "greedy", "cluster", "mix", "local"):
        work = f"{method}, 10,000 users × 100 brokers × 100 channels"
        taken = processor_seconds(lambda method=method: METHODS[method](Search(networks[0])))  # type: ignore[misc]
        if method in GOALS:
            report.add_time(work, GOALS[method], taken)
        else:
            report.add(work, "", readable(taken), None)
        solutions = [solve(network, method) for network in networks]
        costs[method] = np.array([solution.attachment.cost.total for solution in solutions])
        bounds = np.maximum(bounds, [solution.lower_bound for solution in solutions])
    for method, cost in costs.items():
        above, less = (cost / bounds - 1).mean(), (costs["random"] / cost).mean()
        report.add(f"{method}: cost above the lower bound", "", f"{above:.1%} (reduction {less:.2f})", None)
    cheaper = int((costs["local"] < costs["mix"]).sum())
    met = cheaper == len(networks)
    report.add("local is cheaper than mix", "every instance", f"{cheaper} of {len(networks)}", met)
    taken = processor_seconds(lambda: solve(networks[0], "greedy"))
    report.add("greedy with its lower bound, the whole answer", "", readable(taken), None)


def _sharing(report: Report) -> None:
    network = paper_network(1_000, 20, seed=1)
    shared, literal = Search(network), Search(network)
    fast = processor_seconds(lambda: attach_by_mixing(shared), 1)
    slow = processor_seconds(lambda: attach_by_mixing(literal, share=False), 1)
    assert shared.best is not None
    assert literal.best is not None
    same = bool((shared.best.broker == literal.best.broker).all())
    work = "mix with shared trees, 1,000 × 20: brokers as the literal version draws them"
    report.add(work, "all", f"{'all' if same else 'not all'}, {slow / fast:.0f} × faster", same)


def _migration(report: Report) -> None:
    network = paper_network(10_000, 100)
    local = solve(network, "local").attachment.cost.total
    for method in ("random", "greedy"):
        start = solve(network, method).attachment.broker
        began = time.process_time()
        settled = settle(network, start)
        taken, moves = time.process_time() - began, len(settled.redirects)
        above = settled.attachment.cost.total / local - 1
        report.add(
            f"migration from {method}", "", f"{readable(taken)}, {moves:,} redirects; {above:+.1%} on local", None
        )
    rng = np.random.default_rng(1)
    changed = replace(network, publishes=network.publishes * rng.choice([0.5, 1.5], (network.users, 1)))
    again = settle(changed, settled.attachment.broker)
    anew = solve(changed, "local").attachment.cost.total
    above = again.attachment.cost.total / anew - 1
    report.add(
        "  … half of all rates change", "", f"{len(again.redirects):,} redirects; {above:+.1%} on local", None
    )


def _exact(report: Report) -> None:
    networks = [paper_network(10, 4, channels=4, seed=seed) for seed in SEEDS]
    taken = processor_seconds(lambda: solve(networks[0], "exact"), 1)
    report.add("exact, 10 users × 4 brokers × 4 channels", "", readable(taken), None)
    exact = np.array([solve(network, "exact").attachment.cost.total for network in networks])
    for method in ("greedy", "cluster", "mix", "local"):
        solutions = [solve(network, method) for network in networks]
        above = (np.array([s.attachment.cost.total for s in solutions]) / exact - 1).mean()
        report.add(f"  … {method}: cost above the optimum", "", f"{above:.1%}", None)
    below = (1 - np.array([s.lower_bound for s in solutions]) / exact).mean()
    report.add("  … lower bound below the optimum", "", f"{below:.1%}", None)


def _relays(report: Report) -> None:
    """What trees would save if brokers without a subscriber could pass messages on, added while one helps."""
    network = paper_network(1_000, 100)
    links, rng = core_of(network.core_cost, "per-publisher"), np.random.default_rng(0)
    for ends in (5, 20, 50):
        without = together = 0.0
        for _ in range(50):
            members = np.zeros(100, np.bool_)
            members[rng.choice(100, ends, replace=False)] = True
            order, above, hop, nearest = np.empty(100, np.int32), np.empty(100, np.int32), *np.empty((2, 100))
            size, weight = span(links, members, order, above, hop)
            without, gain = without + weight, -1.0
            while gain < 0:
                more = [extension(links, size, order, above, hop, b, nearest) for b in range(100)]
                gain = min(more)
                members[np.argmin(more)] |= gain < 0
                size, weight = span(links, members, order, above, hop)
            together += weight
        saved = 1 - together / without
        report.add(f"trees over {ends} of 100 brokers: relays would save", "", f"{saved:.1%}", None)


def _large(report: Report) -> None:
    network = large_network(1_000_000, 1_000)
    for method in ("greedy", "local"):
        start = time.process_time()
        solution = solve(network, method)
        taken = time.process_time() - start
        report.add_time(f"{method}, 1,000,000 users × 1,000 brokers", 60.0, taken, f"gap {solution.gap:.1%}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.add("  … memory", "<= 8 GB", f"{memory:.1f} GB", memory <= 8)


if __name__ == "__main__":
    main()
