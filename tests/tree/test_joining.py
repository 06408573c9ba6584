"""The best place for a seat is what trying every place finds."""

from collections.abc import Iterator

import numpy as np
import pytest

from polycast.tree import Forest, LossModel, Overhead, Servers
from polycast.tree.joining import REACH, best_place, join, leave
from polycast.tree.neighbours import better
from polycast.tree.random_tree import random_tree
from polycast.tree.seats import walk_from
from tests.tree.instances import random_servers

DEAR = LossModel(overhead=Overhead(1e-3, 1e-3, 1.0, 1.0))


def loose_seats(servers: Servers, per_object: bool, model: LossModel, seed: int) -> Iterator[tuple[Forest, int]]:
    """A forest with one seat taken out of its tree, for each seat in turn, with all below it."""
    forest = random_tree(servers, per_object, model, seed)
    for seat in range(forest.seats.roots, len(forest)):
        place = forest.parents[seat]
        leave(forest.seats, seat)
        yield forest, seat
        join(forest.seats, seat, place)


def change_at(forest: Forest, seat: int, place: int) -> tuple[float, float]:
    added = join(forest.seats, seat, place)
    leave(forest.seats, seat)
    return added


def places_of(forest: Forest, seat: int) -> np.ndarray:
    order = np.empty(len(forest), np.int32)
    root = int(np.flatnonzero(forest.tree_of == forest.tree_of[seat])[0])
    return order[: walk_from(forest.seats, root, order)]


def found(forest: Forest, seat: int, hasty: bool) -> tuple[float, float]:
    reach = np.zeros(len(forest.seats.seat), REACH)
    return change_at(forest, seat, best_place(forest.seats, places_of(forest, seat), seat, reach, hasty))


@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("model", [LossModel(), LossModel(True), DEAR], ids=str)
@pytest.mark.parametrize("load", [1.0, 40.0])
def test_it_is_the_best_of_all_places(per_object: bool, model: LossModel, load: float) -> None:
    for seed in range(5):
        servers = random_servers(np.random.default_rng(seed), 16, 3, load=load)
        for forest, seat in loose_seats(servers, per_object, model, seed):
            changes = [change_at(forest, seat, place) for place in places_of(forest, seat)]
            best = found(forest, seat, hasty=False)
            assert not any(better(overload, loss, best[0], best[1] - 1e-9) for overload, loss in changes)


def test_haste_misses_nothing_where_nobody_becomes_faster() -> None:
    for seed in range(10):
        drawn = random_servers(np.random.default_rng(seed), 20)
        servers = Servers(drawn.filter_time, drawn.transmit_time, np.ones((20, 1)), drawn.delays)
        for forest, seat in loose_seats(servers, False, LossModel(), seed):
            assert found(forest, seat, hasty=True) == pytest.approx(found(forest, seat, hasty=False), rel=1e-9)
