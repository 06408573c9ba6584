"""Random overlays for tests: small enough for brute force, odd in every way that is allowed."""

import numpy as np

from polycast.overlay.attachment import Overlay


def random_overlay(
    rng: np.random.Generator,
    users: int,
    brokers: int,
    channels: int,
    *,
    tightness: float = 0.5,
    metric: bool = True,
    reach: float = 1.0,
    publishing: float = 0.5,
    wanting: float = 0.4,
) -> Overlay:
    """Users and brokers in a square; capacities in sum ``1 / tightness`` times the demand."""
    places = rng.random((brokers, 2))
    core = np.linalg.norm(places[:, None] - places[None], axis=2) * 10
    if not metric:
        core = np.triu(rng.uniform(0.0, 9.0, (brokers, brokers)), 1)
        core += core.T
    access = np.linalg.norm(rng.random((users, 1, 2)) - places[None], axis=2) * rng.choice([0.1, 1.0, 10.0])
    unused = rng.random((users, brokers)) >= reach
    unused[np.arange(users), rng.integers(0, brokers, users)] = False
    publishes = rng.exponential(1.0, (users, channels)) * (rng.random((users, channels)) < publishing)
    overlay = Overlay(
        publishes=publishes,
        interest=rng.random((users, channels)) < wanting,
        access_cost=np.where(unused, np.inf, access),
        core_cost=core,
        capacity=np.full(brokers, np.inf),
    )
    if tightness:
        share = rng.uniform(0.5, 1.5, brokers)
        capacity = share / share.sum() * overlay.demand.sum() / tightness
        overlay = Overlay(overlay.publishes, overlay.interest, overlay.access_cost, overlay.core_cost, capacity)
    return overlay


def odd_overlay(seed: int, users: int = 6, brokers: int = 4, channels: int = 4) -> Overlay:
    """Everything that is allowed, mixed at random; most are as large as they may be."""
    rng = np.random.default_rng(seed)
    whole = rng.random(3) < 0.7
    return random_overlay(
        rng,
        users if whole[0] else int(rng.integers(0, users + 1)),
        brokers if whole[1] else int(rng.integers(1, brokers + 1)),
        channels if whole[2] else int(rng.integers(0, channels + 1)),
        tightness=float(rng.choice([0.0, 0.3, 0.6, 0.9])),
        metric=bool(rng.integers(2)),
        reach=float(rng.choice([0.6, 1.0])),
        publishing=float(rng.choice([0.2, 0.8])),
        wanting=float(rng.choice([0.1, 0.5])),
    )
