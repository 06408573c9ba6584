"""The fidelity model against the slow truth: whole trees, single moves, and long sequences of moves."""

import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.model.tree import Tree
from polycast.tree.forest import Forest
from polycast.tree.model import LossModel, Overhead
from polycast.tree.moves import KINDS, Move
from polycast.tree.neighbours import random_move
from polycast.tree.servers import Servers
from polycast.tree.star import star
from tests.oracles import fidelity as truth
from tests.tree.forests import all_moves, forest_of, moves_of, parents_of
from tests.tree.instances import random_parents, random_servers

DEAR = Overhead(1e-3, 1e-3, 1.0, 1.0)
LITERAL = Overhead(1e-3, 1e-3, 1.0, 1.0, literal=True)
MODELS = [LossModel(precise, overhead) for precise in (False, True) for overhead in (None, DEAR, LITERAL)]


def random_case(rng: np.random.Generator, most: int = 9) -> tuple[Servers, truth.Trees]:
    servers = random_servers(
        rng,
        int(rng.integers(2, most)),
        int(rng.integers(1, 4)),
        load=float(rng.choice([1.0, 1.0, 20.0])),
        source_rates=bool(rng.integers(2)),
    )
    wanted = [x for x in range(servers.rates.shape[1]) if servers.wanted[:, x].any()]
    if wanted and rng.integers(2):
        nodes = {x: [0, *np.flatnonzero(servers.wanted[:, x]).tolist()] for x in wanted}
        return servers, {x: random_parents(rng, nodes[x]) for x in wanted}
    return servers, {None: random_parents(rng, list(range(len(servers))))}


def check_losses(model: LossModel, seed: int, cases: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(cases):
        servers, trees = random_case(rng)
        forest = forest_of(servers, trees, model)
        fidelity = forest.fidelity
        np.testing.assert_allclose(fidelity.losses, truth.losses(servers, trees, model), rtol=1e-10)
        assert np.flatnonzero(fidelity.overloaded).tolist() == truth.Truth(servers, trees, model).overloaded()
        if not fidelity.overloaded.any():
            assert forest.cost.loss == pytest.approx(fidelity.average, rel=1e-10)
        assert (forest.cost.overload > 0) == fidelity.overloaded.any()
        assert parents_of(forest) == trees


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_losses_equal_the_formulas(model: LossModel) -> None:
    check_losses(model, 7, 60)


@pytest.mark.soak
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_losses_equal_the_formulas_thousands_of_times(model: LossModel) -> None:
    check_losses(model, 8, 2000)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_move_changes_what_it_says_and_can_be_undone(model: LossModel) -> None:
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(12):
        servers, trees = random_case(rng)
        forest = forest_of(servers, trees, model)
        before, order = forest.cost, list(trees)
        for move in all_moves(forest):
            said, back = forest.evaluate(move), forest.apply(move)
            after, tree = forest.cost, order[forest.tree_of[move.seat]]
            assert parents_of(forest)[tree] == truth.moved(trees[tree], in_words(forest, move))
            np.testing.assert_allclose(said, np.subtract(after, before), rtol=1e-7, atol=1e-13)
            forest.settle()
            np.testing.assert_allclose(forest.cost, after, rtol=1e-12)
            forest.apply(back)
            assert parents_of(forest) == trees
            np.testing.assert_allclose(forest.cost, before, rtol=1e-12)
            seen.add(move.kind)
    assert seen == set(range(len(KINDS)))


def in_words(forest: Forest, move: Move) -> tuple[str, int, int | None]:
    other = None if move.other < 0 else int(forest.server_of[move.other])
    return KINDS[move.kind], int(forest.server_of[move.seat]), other


def test_possible_are_the_moves_around_each_broker_once() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        servers, trees = random_case(rng)
        forest = forest_of(servers, trees)
        listed = [move for seat in range(len(forest)) for move in moves_of(forest, seat)]
        assert len(listed) == len(set(listed))
        assert set(listed) == set(all_moves(forest))


@pytest.mark.parametrize("model", [LossModel(), LossModel(True, DEAR)], ids=str)
@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("spread", [1.0, 1e6])
def test_incremental_equals_recomputed_after_many_moves(model: LossModel, per_object: bool, spread: float) -> None:
    """Also where one server gets a million messages a second, and the loads cross 1 and come back."""
    rng = np.random.default_rng(5)
    drawn = random_servers(rng, 40, 3, load=2.0)
    rates = drawn.rates * np.where(np.arange(40) == 7, spread, 1.0)[:, None]
    servers = Servers(drawn.filter_time / spread, drawn.transmit_time / spread, rates, drawn.delays)
    forest = star(servers, per_object, model)
    for step in range(4000):
        move = Move(*random_move(forest.seats, rng))
        forest.apply(move)
        if step % 500 == 0:
            incremental, losses = forest.cost, forest.fidelity.losses
            forest.settle()
            np.testing.assert_allclose(incremental, forest.cost, rtol=1e-9)
            np.testing.assert_allclose(losses, forest.fidelity.losses, rtol=1e-9)
            again = Forest.of(servers, forest.trees, model)
            np.testing.assert_allclose(incremental, again.cost, rtol=1e-9)


def test_a_deep_chain() -> None:
    """Every server adds its link, its queue and the message's own time to all below it."""
    count, check, send, link = 2000, 1e-3, 1e-4, 0.01
    ones = np.ones(count)
    servers = Servers(ones * check, ones * send, ones[:, None], np.full((count, count), link))
    chain = {f"n{i}": f"n{i - 1}" if i > 1 else "s" for i in range(1, count)}
    load = check + send
    step = link + load / (1 - load) * load + check + send
    losses = Forest.of(servers, {None: Tree.of("s", chain)}).fidelity.losses
    np.testing.assert_allclose(losses, np.arange(count) * step, rtol=1e-9)


def test_an_impossible_move_is_an_error() -> None:
    servers = random_servers(np.random.default_rng(1), 5)
    forest = star(servers)
    for move in (Move(0, 1), Move(1, 1, 1), Move(1, 0, 1), Move(3, 1, 2), Move(9, 1, 2), Move(0, 77), Move(0, -1)):
        with pytest.raises(BadInput):
            forest.evaluate(move)


def test_trees_that_do_not_fit_are_errors() -> None:
    servers = random_servers(np.random.default_rng(1), 4, 2, interest=1.0, idle=0.0)
    whole = {"n1": "s", "n2": "s", "n3": "n1"}
    for trees, where in (
        ({None: Tree.of("s", {"n1": "s", "n2": "s"})}, "trees[0].parents"),
        ({None: Tree.of("s", whole | {"zz": "s"})}, "trees[0].parents.zz"),
        ({None: Tree.of("n1", {"s": "n1", "n2": "s", "n3": "s"})}, "trees[0].parents"),
        ({"o1": Tree.of("s", whole)}, "trees"),
        ({"o1": Tree.of("s", whole), "o2": Tree.of("s", whole), "o9": Tree.of("s", whole)}, "trees"),
    ):
        with pytest.raises(BadInput) as raised:
            Forest.of(servers, trees)
        assert raised.value.where == where
