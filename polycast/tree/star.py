"""Star: every server hangs below the source. The baseline of the paper's "source-based approach"."""

import numpy as np

from polycast.tree.forest import Forest
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.seats import NOBODY
from polycast.tree.servers import SOURCE, Servers


def star(servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE) -> Forest:
    """Hang every server below the source."""
    forest = Forest(servers, per_object, model)
    roots = forest.seat_at[SOURCE][forest.tree_of]
    forest.plant(np.where(forest.server_of == SOURCE, NOBODY, roots).astype(np.int32))
    return forest
