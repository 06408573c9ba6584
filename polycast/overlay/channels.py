"""Sub-channels (Overlay, section IV.A): the content space cut into cells, and what falls into each.

A *content space* has one or more attributes, each with a range of values, cut into equal parts; a channel is one
cell. A generating function becomes the rate in each cell; a subscription, a box in the space, becomes the fewest
cells that hold it. Cells do not overlap, so what channels cost simply adds up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.attachment import Flags, Floats, Indices


@dataclass(frozen=True)
class ContentSpace:
    """The values that messages can have, and how finely they are told apart.

    Parameters
    ----------
    low, high
        The range of each attribute.
    cells
        Into how many equal parts each range is cut.
    """

    low: tuple[float, ...] = (0.0,)
    high: tuple[float, ...] = (1.0,)
    cells: tuple[int, ...] = (100,)

    def __post_init__(self) -> None:
        if not len(self.low) == len(self.high) == len(self.cells) > 0:
            raise BadInput("space", "every attribute needs a low end, a high end and a number of cells")
        for position, (low, high, cells) in enumerate(zip(self.low, self.high, self.cells, strict=True)):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise BadInput(f"space.low[{position}]", f"{low} to {high} is not a range of finite numbers")
            if cells < 1:
                raise BadInput(f"space.cells[{position}]", f"{cells} is not 1 or more")

    @property
    def channels(self) -> int:
        """T: how many cells there are; the last attribute varies fastest."""
        return math.prod(self.cells)

    @cached_property
    def edges(self) -> tuple[Floats, ...]:
        """Where the parts of each range begin and end."""
        ranges = zip(self.low, self.high, self.cells, strict=True)
        return tuple(np.linspace(low, high, cells + 1) for low, high, cells in ranges)

    def channel_of(self, values: Floats) -> Indices:
        """The channel of each message, given a row of attribute values; -1 outside the space or for NaN."""
        values = np.asarray(values, np.float64).reshape(-1, len(self.cells))
        low, high = np.array(self.low), np.array(self.high)
        inside = np.all((values >= low) & (values <= high), axis=1)
        share = (np.where(inside[:, None], values, low) - low) / (high - low)
        cell = np.minimum((share * self.cells).astype(np.int64), np.array(self.cells) - 1)
        return np.where(inside, np.ravel_multi_index(tuple(cell.T), self.cells), -1).astype(np.int32)

    def interest(self, low: Floats, high: Floats) -> Flags:
        """The channels that each subscription needs: a box from ``low`` to ``high``, a row of either for each.

        A box that only touches a cell's edge from outside does not need the cell. An empty box needs none.
        """
        low = np.asarray(low, np.float64).reshape(-1, len(self.cells))
        high = np.asarray(high, np.float64).reshape(-1, len(self.cells))
        wanted = np.ones((len(low), 1), np.bool_)
        for attribute, edges in enumerate(self.edges):
            bottom, top = low[:, attribute, None], high[:, attribute, None]
            last = (bottom == edges[-1]) & (edges[1:] == edges[-1])
            point = (bottom == top) & (bottom >= edges[:-1]) & ((bottom < edges[1:]) | last)
            meets = ((bottom < edges[1:]) & (top > edges[:-1]) & (bottom < top)) | point
            wanted = (wanted[:, :, None] & meets[:, None, :]).reshape(len(low), -1)
        return wanted


def quadratics(space: ContentSpace, a: Floats, b: Floats, c: Floats) -> Floats:
    """Generating functions ``a·x² + b·x + c`` with the negative part cut off, as rates by channel, exactly.

    The content space has one attribute. A row of the result is one function's histogram: the integral over each
    cell.
    """
    if len(space.cells) != 1:
        raise BadInput("space", "a quadratic is a function of one attribute")
    a, b, c = (np.asarray(term, np.float64)[:, None] for term in (a, b, c))
    roots = _roots(a, b, c)
    edges = np.broadcast_to(space.edges[0], (len(a), space.channels + 1))
    first = np.clip(roots[:, :1], edges[:, :-1], edges[:, 1:])
    second = np.clip(roots[:, 1:], edges[:, :-1], edges[:, 1:])
    parts = ((edges[:, :-1], first), (first, second), (second, edges[:, 1:]))
    return np.asarray(sum(_where_positive(a, b, c, start, stop) for start, stop in parts), np.float64)


def from_function(space: ContentSpace, density: Floats) -> Floats:
    """Rates by channel from a density given at the middle of every cell, one row for each user."""
    density = np.asarray(density, np.float64).reshape(-1, space.channels)
    ranges = zip(space.low, space.high, space.cells, strict=True)
    return np.asarray(np.maximum(density, 0.0) * math.prod((high - low) / cells for low, high, cells in ranges))


def middles(space: ContentSpace) -> Floats:
    """The middle of every cell, a row for each channel."""
    centres = [(edges[:-1] + edges[1:]) / 2 for edges in space.edges]
    return np.stack(np.meshgrid(*centres, indexing="ij"), axis=-1).reshape(space.channels, -1)


def random_quadratics(users: int, rng: np.random.Generator) -> Sequence[Floats]:
    """Coefficients of quadratics on 0 to 1, drawn so that each is positive somewhere: through a random point with
    a random slope and bend."""
    bend, slope = rng.uniform(-4.0, 4.0, users), rng.uniform(-2.0, 2.0, users)
    at, height = rng.random(users), rng.random(users)
    return bend, slope - 2 * bend * at, height - slope * at + bend * at**2


def _roots(a: Floats, b: Floats, c: Floats) -> Floats:
    """Where each quadratic is 0, in order; infinite where it is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = b * b - 4 * a * c
        q = -(b + np.copysign(np.sqrt(np.maximum(wide, 0.0)), b)) / 2
        found = np.concatenate((q / a, c / q), axis=1)
    found[~(np.isfinite(found) & (wide >= 0))] = np.inf
    return np.sort(found, axis=1)


def _where_positive(a: Floats, b: Floats, c: Floats, start: Floats, stop: Floats) -> Floats:
    """The integral from start to stop, between which the sign does not change, if it is positive."""
    middle = (start + stop) / 2
    value = (a * middle + b) * middle + c
    integral = (stop - start) * (value + a * (stop - start) ** 2 / 12)
    return np.where(value > 0, np.maximum(integral, 0.0), 0.0)
