"""Routing in the overlay: tables, routes, brokers that come and go, and dissemination trees."""

import math

import numpy as np

from benchmarks.table import Report, readable, seconds
from polycast.model.region import Region, between
from polycast.overlay.cells import Axis
from polycast.overlay.content_space import ContentSpace, Limits
from polycast.overlay.dissemination import discover
from polycast.overlay.estimation import agreement, estimate
from polycast.overlay.networks import power_law
from polycast.overlay.tapestry import Tapestry, key_of, space_of

ROUTES = 10_000
KEY = key_of("a flood map")


def main() -> None:
    report = Report("Overlay: rendezvous routing (one core, warm)")
    for brokers in (1_024, 10_000, 100_000):
        overlay = _tables(report, brokers)
        _routes(report, overlay)
        _comings_and_goings(report, overlay)
        _trees(report, overlay)
    _content_space(report)
    report.show()


def _tables(report: Report, brokers: int) -> Tapestry:
    topology = power_law(brokers, seed=1)
    space = space_of(topology)
    built = []
    taken = seconds(lambda: built.append(Tapestry(topology.names, space)), repeat=1)
    size = built[-1].tables.nbytes / 1e6
    report.add(f"tables of {brokers:,} brokers", "", f"{readable(taken)}, {size:.0f} MB", None)
    return built[-1]


def _routes(report: Report, overlay: Tapestry) -> None:
    brokers = len(overlay.names)
    sources = np.random.default_rng(2).choice(brokers, min(ROUTES, brokers), replace=False)
    routes = overlay.routes(sources, KEY)
    taken = seconds(lambda: overlay.routes(sources, KEY))
    hops = f"({routes.hops.mean():.2f} hops; log16 n = {math.log(brokers, 16):.2f})"
    report.add_time(f"routes from {len(sources):,} of {brokers:,} brokers to one root", 0.2, taken, hops)


def _comings_and_goings(report: Report, overlay: Tapestry) -> None:
    brokers = len(overlay.names)
    left = seconds(lambda: (overlay.leave(7), overlay.join(7)), repeat=3)
    report.add(f"one of {brokers:,} leaves and joins", "", readable(left), None)
    overlay.fail(np.random.default_rng(3).choice(brokers, brokers // 10, replace=False))
    ends = overlay.routes(overlay.members, KEY).ends
    right = np.unique(ends, return_counts=True)[1].max() / len(ends)
    report.add("a tenth fails: routes that agree before repair", "", f"{right:.2%}", None)
    overlay.repair()


def _trees(report: Report, overlay: Tapestry) -> None:
    members = overlay.members
    wanted = np.random.default_rng(4).choice(members, len(members) // 10, replace=False)
    root = overlay.root(KEY)
    real, guess = discover(overlay, root, wanted), estimate(overlay, root, wanted)
    name = f"a tree to {len(wanted):,} of {len(members):,} brokers"
    taken = seconds(lambda: discover(overlay, root, wanted), repeat=3)
    probes = f"{readable(taken)}, {real.probes:,} probes, {real.probe_megabytes:.2f} MB"
    report.add(f"{name}, discovered", "", probes, None)
    taken = seconds(lambda: estimate(overlay, root, wanted), repeat=3)
    report.add(f"{name}, estimated", "", f"{readable(taken)}, {agreement(real, guess):.0%} as discovered", None)


def _content_space(report: Report) -> None:
    rng = np.random.default_rng(5)
    space = ContentSpace((Axis("level", "number"), Axis("place", "number")), Limits(publications=500))
    for i, (level, place) in enumerate(rng.random((10_000, 2))):
        wish = {"level": between(level, level + 0.01), "place": between(place, place + 0.1)}
        space.subscribe(str(i), Region.of(wish))
    events = [{"level": level, "place": place} for level, place in rng.random((10_000, 2)).tolist()]
    for _ in range(6):
        for event in events:
            space.publish(event)
        space.rebalance()
    met = np.mean([len(space.publish(event)[1]) for event in events])
    taken = seconds(lambda: [space.publish(event) for event in events], repeat=3)
    found = f"{readable(taken)}, {met:.0f} subscriptions met of 10,000"
    report.add(f"10,000 publications to {len(space.cells)} cells", "", found, None)


if __name__ == "__main__":
    main()
