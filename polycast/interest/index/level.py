"""A part of the index that does not change, but for what is removed: programs, and clusters that lead to them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.bitmaps import Bitmaps
from polycast.interest.index.clusters import Clusters, clustered
from polycast.interest.index.cover import rows
from polycast.interest.index.dictionary import ranks
from polycast.interest.index.matching import again, depth, listed, match, unread
from polycast.interest.index.names import find
from polycast.interest.index.programs import Alive, Programs, cumulated, merged
from polycast.interest.index.vocabulary import Sight, Vocabulary


class Level(NamedTuple):
    """Subscriptions by number, in the order in which they were added."""

    programs: Programs
    clusters: Clusters
    bitmaps: Bitmaps
    dead: NDArray[np.uint8]
    deepest: int

    @property
    def total(self) -> int:
        """How many there are, removed ones included."""
        return len(self.dead)

    def find(self, name: bytes) -> int:
        """The number of the subscription with this name; -1 if there is none."""
        return find(self.programs.names, name, self.dead)

    def match(self, vocabulary: Vocabulary, sight: Sight, attributes: Mapping[str, Any]) -> NDArray[np.int32]:
        """The numbers of the subscriptions that accept an event, in order."""
        code, ends, keys, _ = self.programs
        codes = vocabulary.defaults[: len(keys.first)].copy()
        ranks(keys, codes, sight)
        found, pending = match(codes, self.clusters, self.bitmaps, code, ends, self.deepest)
        if len(pending):
            wanted = unread(pending, code, ends, codes).tolist()
            ranks(keys, codes, vocabulary.look_closer(attributes, wanted))
            again(pending, code, ends, codes, self.deepest, found)
        return listed(found, self.dead)


def level_of(programs: Programs, vocabulary: Vocabulary) -> Level:
    """Lay programs where events find them."""
    masses = cumulated(programs)
    cover = rows(programs, masses, vocabulary.is_eager[: len(programs.keys.first)])
    clusters, maps = clustered(cover, programs.keys, masses)
    dead = np.zeros(len(programs.ends) - 1, np.uint8)
    return Level(programs, clusters, maps, dead, int(depth(programs.code, programs.ends)))


def merged_level(levels: Sequence[Level], vocabulary: Vocabulary) -> Level:
    """One level of what is alive in several."""
    return level_of(merged([Alive(level.programs, level.dead) for level in levels], vocabulary), vocabulary)
