"""Waxman's random network: brokers on a plane, linked the more likely the nearer they are."""

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.shortest_paths import Floats, Indices
from polycast.overlay.topology import Topology, lengths

# Of the rows of the matrix of all pairs, how many are drawn at a time.
ROWS = 512


def waxman(brokers: int, seed: int, density: float | None = None, reach: float = 0.1) -> Topology:
    """A network on the unit square; a link costs what it is long.

    Parameters
    ----------
    density
        Two brokers `d` apart are linked with probability ``density · exp(−d / (reach · √2))``; if left out, so
        that a broker has about four links.
    reach
        How far links go, as a share of the diagonal.
    """
    if brokers < 1:
        raise BadInput("brokers", f"{brokers} is not 1 or more")
    if not reach > 0:
        raise BadInput("reach", f"{reach} is not above 0")
    rng = np.random.default_rng(seed)
    place = rng.random((brokers, 2))
    scale = reach * np.sqrt(2)
    ends = _draw(place, scale, _usual_density(brokers, scale) if density is None else density, rng)
    ends = np.concatenate((ends, _bridges(place, ends)))
    return Topology(ends, lengths(place, ends), np.ones(brokers), place)


def _usual_density(brokers: int, scale: float) -> float:
    """Far from the rim the expected number of links is ``density · n · 2π · scale²``; at the rim, half of that."""
    return float(min(1.0, 6 / (brokers * 2 * np.pi * scale**2)))


def _draw(place: Floats, scale: float, density: float, rng: np.random.Generator) -> Indices:
    found = [np.empty((0, 2), np.int32)]
    for first in range(0, len(place), ROWS):
        rows = place[first : first + ROWS]
        apart = np.linalg.norm(rows[:, None] - place[None, :], axis=2)
        linked = rng.random(apart.shape) < density * np.exp(-apart / scale)
        row, column = np.nonzero(linked)
        pairs = np.column_stack((row + first, column)).astype(np.int32)
        found.append(pairs[pairs[:, 0] < pairs[:, 1]])
    return np.concatenate(found)


def _bridges(place: Floats, ends: Indices) -> Indices:
    """A link from every part that is cut off to the nearest broker of another, until one part is left."""
    part = np.arange(len(place))
    for a, b in ends.tolist():
        part[part == part[b]] = part[a]
    bridges: list[tuple[int, int]] = []
    while (outside := np.flatnonzero(part != part[-1])).size:
        lost = np.flatnonzero(part == part[outside[0]])
        others = np.flatnonzero(part != part[lost[0]])
        apart = np.linalg.norm(place[lost, None] - place[None, others], axis=2)
        row, column = np.unravel_index(np.argmin(apart), apart.shape)
        a, b = int(lost[row]), int(others[column])
        bridges.append((a, b))
        part[lost] = part[b]
    return np.array(bridges, np.int32).reshape(-1, 2)
