"""Placement problems for benchmarks: random trees of unlike brokers, random or structured content graphs."""

import numpy as np
import numpy.typing as npt

from polycast.model.problem import Problem

Floats = npt.NDArray[np.float64]


def unlike_brokers(
    formats: int,
    brokers: int,
    *,
    most: int,
    ratio: float = 0.7,
    seed: int = 1,
    graph: tuple[Floats, Floats] | None = None,
) -> Problem:
    """A random recursive tree in which a share of the brokers match and want up to ``most`` formats each.

    Every link and every broker has a cost of its own. Without a ``graph`` (sizes, conversions) every format can be
    made from every other, all costs drawn independently.
    """
    rng = np.random.default_rng(seed)
    size, conversion = graph or random_graph(rng, formats)
    wants = np.where(rng.random(brokers) < ratio, rng.integers(1, most + 1, brokers), 0)
    return Problem(
        size=size,
        conversion=conversion,
        parent=np.array([-1, *(rng.integers(0, i) for i in range(1, brokers))]),
        link_cost=rng.uniform(0.1, 2.0, brokers),
        compute_cost=rng.uniform(0.1, 2.0, brokers),
        want_start=np.concatenate(([0], np.cumsum(wants))),
        choice_start=np.arange(wants.sum() + 1),
        choice_format=np.concatenate([rng.choice(formats, count, replace=False) for count in wants]),
        choice_penalty=np.zeros(wants.sum()),
    )


def random_graph(rng: np.random.Generator, formats: int, dearest: float = 60.0) -> tuple[Floats, Floats]:
    """Sizes and conversions without any order in them: every operator exists, and each has its own cost."""
    conversion = rng.uniform(0.0, dearest, (formats, formats))
    np.fill_diagonal(conversion, np.inf)
    return rng.uniform(1.0, 30.0, formats), conversion
