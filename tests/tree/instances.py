"""Random servers for tests: few enough for slow truths, odd in every way that is allowed."""

import numpy as np

from polycast.tree.servers import Servers


def random_servers(
    rng: np.random.Generator,
    count: int,
    objects: int = 1,
    *,
    interest: float = 0.7,
    load: float = 1.0,
    source_rates: bool = True,
    idle: float = 0.1,
) -> Servers:
    """Servers as in the paper's section 5.1, a few without any wish; ``load`` scales the times."""
    rates = rng.uniform(0.5, 1.5, (count, objects)) * (rng.random((count, objects)) < interest)
    rates[rng.random(count) < idle] = 0.0
    rates[0] = rates.max(axis=0, initial=0.0) * 1.1 if source_rates else 0.0
    delays = rng.uniform(0.005, 0.035, (count, count))
    np.fill_diagonal(delays, 0.0)
    filter_time = rng.uniform(0.001, 0.009, count) * load
    transmit_time = rng.uniform(0.000125, 0.001875, count) * load
    filter_time[0], transmit_time[0] = 0.001, 0.000125
    return Servers(filter_time, transmit_time, rates, delays)


def random_parents(rng: np.random.Generator, nodes: list[int]) -> dict[int, int]:
    """A random tree over the nodes, rooted at the first."""
    shuffled = [nodes[0], *rng.permutation(nodes[1:]).tolist()]
    return {node: shuffled[rng.integers(i)] for i, node in enumerate(shuffled) if i}
