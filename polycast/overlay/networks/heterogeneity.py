"""Unlike links and unlike brokers, as in the experiments of CCD's appendix E."""

from collections.abc import Callable

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.shortest_paths import Floats
from polycast.overlay.topology import Topology

# Bandwidths are drawn from 0 Mb/s on, and cost 10 over bandwidth: without a floor there is no highest cost.
FLOOR = 0.1

Draw = Callable[[int, int, np.random.Generator], tuple[Floats, Floats]]


def weak(links: int, brokers: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Costs of links and brokers as PlanetLab's: 60 % of links have 10 to 100 Mb/s, the others less than 10.

    A link of `x` Mb/s costs 10/x, and `x` is 0.1 at least, so that no link costs more than 100. A broker of which
    `x` % are free costs 100/x, from 1 to 1.25.
    """
    fast = rng.random(links) < 0.6
    bandwidth = np.where(fast, rng.uniform(10, 100, links), rng.uniform(0, 10, links))
    return 10 / np.maximum(bandwidth, FLOOR), 100 / rng.uniform(80, 100, brokers)


def strong(links: int, brokers: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Costs of links and brokers anywhere from 1 to 100."""
    return rng.uniform(1, 100, links), rng.uniform(1, 100, brokers)


KINDS: dict[str, Draw] = {"weak": weak, "strong": strong}


def heterogeneous(topology: Topology, kind: str, seed: int) -> Topology:
    """The same network, with costs of links and brokers that are unlike: ``weak`` or ``strong``."""
    if kind not in KINDS:
        raise BadInput("kind", f'"{kind}" is none of {", ".join(KINDS)}')
    link_cost, compute_cost = KINDS[kind](len(topology.ends), len(topology), np.random.default_rng(seed))
    return topology.replace(link_cost=link_cost, compute_cost=compute_cost)
