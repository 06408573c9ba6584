"""A generating function from a history of publications, where none is declared (Overlay, sections I and V).

One pass over the history, and a number for each channel: however long the history is, it takes no more memory.
With a half-life, old publications fade, so that the rates follow a publisher whose ways change.
"""

import math
from collections.abc import Sequence

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.attachment import Floats
from polycast.overlay.channels import ContentSpace


class Summary:
    """What one publisher has published so far.

    Parameters
    ----------
    start
        When the history begins.
    half_life
        After this time a publication counts half; None: all count alike for ever.
    """

    def __init__(self, space: ContentSpace, *, start: float = 0.0, half_life: float | None = None) -> None:
        if half_life is not None and not 0 < half_life < math.inf:
            raise BadInput("half_life", f"{half_life} is not a time above 0")
        self.space, self.start, self.half_life = space, start, half_life
        self.outside = 0
        self._until = start
        self._amounts = np.zeros(space.channels)

    def add(self, values: Floats, at: Floats | Sequence[float], amounts: Floats | float = 1.0) -> None:
        """Note some publications: a row of attribute values for each, when it was, and how much it carries.

        They may come in any order. Those outside the content space are only counted, in ``outside``.
        """
        channel = self.space.channel_of(values)
        at = np.broadcast_to(np.asarray(at, np.float64), channel.shape)
        for moment in at[~((at >= self.start) & (at < np.inf))][:1]:
            raise BadInput("at", f"{moment} is not a time at {self.start} or later")
        inside = channel >= 0
        self.outside += int((~inside).sum())
        if inside.any():
            self._fade(max(self._until, float(at.max())))
            weights = np.broadcast_to(amounts, channel.shape) * self._left(self._until - at)
            self._amounts += np.bincount(channel[inside], weights[inside], self.space.channels)

    def rates(self, now: float) -> Floats:
        """The rate on each channel, as of now: one row of ``publishes``."""
        if not now >= self._until or now <= self.start:
            raise BadInput("now", f"{now} is not after the history")
        spent = now - self.start
        if self.half_life is not None:  # so long would all that still counts have taken at full weight
            spent = (1 - float(self._left(np.float64(spent)))) * self.half_life / math.log(2)
        return np.asarray(self._amounts * self._left(np.float64(now - self._until)) / spent, np.float64)

    def _fade(self, until: float) -> None:
        self._amounts *= self._left(np.float64(until - self._until))
        self._until = until

    def _left(self, age: Floats | np.float64) -> Floats:
        """How much a publication of some age still counts."""
        faded = np.exp2(-age / self.half_life) if self.half_life is not None else np.ones_like(age)
        return np.asarray(faded, np.float64)
