"""Random networks of users and brokers, as section VI.A describes them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from papers.overlay.parameters import ANY_WIDTH, CAPACITY, PLACES
from polycast.overlay.attachment import Overlay
from polycast.overlay.channels import ContentSpace, quadratics, random_quadratics
from polycast.overlay.networks import power_law, sites

Floats = npt.NDArray[np.float64]


class Content(NamedTuple):
    """What users publish and want, before the content space is cut into channels."""

    quadratics: tuple[Floats, ...]
    low: Floats
    high: Floats

    def overlay(self, channels: int, access: Floats, core: Floats, capacity: Floats) -> Overlay:
        """The network as a method sees it that tells so many channels apart."""
        space = ContentSpace(cells=(channels,))
        publishes = quadratics(space, *self.quadratics)
        return Overlay(publishes, space.interest(self.low, self.high), access, core, capacity)


def network(seed: int, setting: Mapping[str, str | int | float], channels: int | None = None) -> Overlay:
    """The network of a setting; with other ``channels``, the same one cut in another way."""
    which = ("users", "brokers", "network", "ratio", "width")
    return _network(seed, *(setting[name] for name in which), channels or setting["channels"])


@lru_cache(maxsize=2)
def _network(seed: int, users: int, brokers: int, kind: str, ratio: float, width: float, channels: int) -> Overlay:
    content = _content(users, width, np.random.default_rng([seed, users]))
    access, core = COSTS[kind](seed, users, brokers, ratio)
    seen = content.overlay(channels, access, core, np.full(brokers, np.inf))
    return replace(seen, capacity=np.full(brokers, CAPACITY * seen.demand.sum() / brokers))


def _content(users: int, width: float, rng: np.random.Generator) -> Content:
    terms = tuple(random_quadratics(users, rng))
    if width == ANY_WIDTH:
        low, high = np.sort(rng.random((users, 2)), axis=1).T
    else:
        low = rng.random(users) * (1 - width)
        high = low + width
    return Content(terms, low[:, None], high[:, None])


def _in_one_network(seed: int, users: int, brokers: int, ratio: float) -> tuple[Floats, Floats]:
    access, core = sites(power_law(max(PLACES, 2 * brokers), seed), brokers, users, seed, access_to_core=ratio)
    return access, core


def _each_by_itself(seed: int, users: int, brokers: int, ratio: float) -> tuple[Floats, Floats]:
    """Access links cost anything from 0 on, alike likely; brokers are points, so that the core is metric."""
    rng = np.random.default_rng([seed, brokers])
    access = rng.random((users, brokers))
    places = rng.random((brokers, 2))
    core = np.linalg.norm(places[:, None] - places[None], axis=2)
    between = core[~np.eye(brokers, dtype=np.bool_)].mean() if brokers > 1 else 1.0
    return access * (ratio / access.mean()), core / between


COSTS: dict[str, Callable[[int, int, int, float], tuple[Floats, Floats]]] = {
    "power-law": _in_one_network,
    "independent": _each_by_itself,
}
