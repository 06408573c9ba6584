"""Random: servers join in random order, each below a random one. The baseline of all tree builders."""

import numpy as np

from polycast.tree.forest import Forest
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.seats import NOBODY
from polycast.tree.servers import Servers


def random_tree(
    servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE, seed: int = 0
) -> Forest:
    """Join the servers in random order, each below a random one that has joined."""
    rng = np.random.default_rng(seed)
    forest = Forest(servers, per_object, model)
    parents = np.full(len(forest), NOBODY, np.int32)
    for tree in range(len(forest.objects)):
        root, *others = np.flatnonzero(forest.tree_of == tree)
        joined = np.concatenate(([root], rng.permutation(others))).astype(np.int32)
        above = (rng.random(len(others)) * np.arange(1, len(joined))).astype(np.intp)
        parents[joined[1:]] = joined[above]
    forest.plant(parents)
    return forest
