"""Random placement problems for tests: small enough for brute force, odd in every way that is allowed."""

import numpy as np

from polycast.model.problem import Problem


def random_problem(
    rng: np.random.Generator,
    brokers: int,
    formats: int,
    *,
    density: float = 0.6,
    unsendable: float = 0.0,
    alternatives: float = 0.0,
    wanting: float = 0.7,
    most_wants: int = 2,
    whole: bool = False,
) -> Problem:
    """A random tree with random wants; ``whole`` draws whole numbers, so that ties are common."""

    def costs(shape: int | tuple[int, ...], high: float) -> np.ndarray:
        return rng.integers(0, 6, shape).astype(float) if whole else rng.uniform(0.0, high, shape)

    size = costs(formats, 30.0)
    size[rng.random(formats) < unsendable] = np.inf
    conversion = np.where(rng.random((formats, formats)) < density, costs((formats, formats), 60.0), np.inf)
    np.fill_diagonal(conversion, np.inf)
    parent = np.array([-1, *(rng.integers(0, i) for i in range(1, brokers))], np.int32)
    wants = np.where(rng.random(brokers) < wanting, rng.integers(1, most_wants + 1, brokers), 0)
    many = np.where(rng.random(wants.sum()) < alternatives, rng.integers(2, formats + 1, wants.sum()), 1)
    choices = [rng.choice(formats, count, replace=False) for count in many]
    penalties = [costs(count, 10.0) if count > 1 else np.zeros(1) for count in many]
    shuffled = rng.permutation(brokers)  # parents need not stand before their children
    return Problem(
        size=size,
        conversion=conversion,
        parent=np.where(parent < 0, -1, shuffled[parent])[np.argsort(shuffled)],
        link_cost=costs(brokers, 2.0),
        compute_cost=costs(brokers, 2.0),
        want_start=np.concatenate(([0], np.cumsum(wants))),
        choice_start=np.concatenate(([0], np.cumsum(many))).astype(np.int64),
        choice_format=np.concatenate([*choices, []]).astype(np.int32),
        choice_penalty=np.concatenate([*penalties, []]),
        published=int(rng.integers(formats)),
        alpha=float(rng.choice([0.0, 0.1, 1.0, 10.0])) if whole else float(rng.uniform(0.1, 2.0)),
        beta=float(rng.choice([0.0, 0.1, 1.0, 10.0])) if whole else float(rng.uniform(0.1, 2.0)),
    )
