"""What a broker decides from its view alone is what the whole tree would have it do."""

import numpy as np
import pytest

from polycast.tree import Forest, LossModel, Overhead, Servers
from polycast.tree.decide import decide
from polycast.tree.neighbours import better
from polycast.tree.random_tree import random_tree
from polycast.tree.star import star
from polycast.tree.view import view_of
from tests.tree.forests import moves_of
from tests.tree.instances import random_servers

DEAR = Overhead(1e-4, 1e-4, 1.0, 1.0)


def best_change(forest: Forest, seat: int) -> tuple[float, float]:
    best = (0.0, 0.0)
    for move in moves_of(forest, seat):
        change = forest.evaluate(move)
        if better(*change, *best):
            best = change
    return best


def check_decision(forest: Forest, seat: int, model: LossModel) -> None:
    move, best = decide(view_of(forest, seat), model), best_change(forest, seat)
    if move is None:
        assert best == pytest.approx((0.0, 0.0), abs=1e-12)
    else:
        assert forest.evaluate(move) == pytest.approx(best, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("load", [1.0, 30.0])
def test_decisions_are_the_best_moves(per_object: bool, precise: bool, load: float) -> None:
    model = LossModel(precise)
    for seed in range(6):
        servers = random_servers(np.random.default_rng(seed), 24, 3, load=load)
        forest = random_tree(servers, per_object, model, seed)
        for seat in range(len(forest)):
            check_decision(forest, seat, model)


@pytest.mark.parametrize("overhead", [DEAR, Overhead(1e-4, 1e-4, 1.0, 1.0, literal=True)], ids=str)
def test_decisions_of_the_source_count_the_work_of_adapting(overhead: Overhead) -> None:
    for seed in range(20):
        servers = random_servers(np.random.default_rng(seed), 12, 2)
        forest = random_tree(servers, False, LossModel(overhead=overhead), seed)
        check_decision(forest, 0, forest.model)


def test_nothing_to_decide() -> None:
    servers = random_servers(np.random.default_rng(0), 3)
    assert decide(view_of(star(servers), 1)) is None
    idle = Servers(servers.filter_time, servers.transmit_time, servers.rates * 0, servers.delays)
    assert decide(view_of(star(idle), 0)) is None


def test_an_overloaded_broker_is_relieved_first() -> None:
    drawn = random_servers(np.random.default_rng(0), 40, idle=0.0, interest=1.0)
    forest = star(Servers(drawn.filter_time, drawn.transmit_time, drawn.rates * 20, drawn.delays))
    assert forest.cost.overload > 0
    move = decide(view_of(forest, 0))
    assert move is not None
    assert forest.evaluate(move).overload < 0
