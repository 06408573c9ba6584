"""What is particular to each builder: greedy's choices, DiTA's rule, and searches that leave an overload."""

import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.tree import APPROXIMATE, Forest, LossModel, Overhead, Servers
from polycast.tree.anneal import LITERAL, Schedule, anneal, anneal_from
from polycast.tree.descend import descend
from polycast.tree.dita import dita, limits
from polycast.tree.greedy import greedy
from polycast.tree.local import LocalSearch, improve, local
from polycast.tree.neighbours import better
from polycast.tree.random_tree import random_tree
from polycast.tree.star import star
from tests.oracles import fidelity as truth
from tests.tree.forests import moves_of, parents_of
from tests.tree.instances import random_servers


def greedy_in_plain_words(servers: Servers, model: LossModel) -> dict[int, int]:
    """Algorithm 2, recomputing the average loss of every tree from scratch."""
    near = servers.delays[0] + servers.filter_time + servers.transmit_time
    parents: dict[int, int] = {}
    joined = [0]
    for server in sorted(range(1, len(servers)), key=lambda i: near[i]):
        losses = [loss_of_part(servers, {**parents, server: place}, model) for place in joined]
        parents[server] = joined[int(np.argmin(losses))]
        joined.append(server)
    return parents


def loss_of_part(servers: Servers, parents: dict[int, int], model: LossModel) -> float:
    """What a tree over some of the servers loses."""
    here = [0, *parents]
    part = Servers(
        servers.filter_time[here],
        servers.transmit_time[here],
        servers.rates[here],
        servers.delays[np.ix_(here, here)],
    )
    renumbered = {here.index(child): here.index(parent) for child, parent in parents.items()}
    return sum(truth.losses(part, {None: renumbered}, model))


@pytest.mark.parametrize(
    "model", [APPROXIMATE, LossModel(True), LossModel(overhead=Overhead(1e-4, 1e-4, 1, 1))], ids=str
)
def test_greedy_chooses_as_the_paper_says(model: LossModel) -> None:
    for seed in range(6):
        servers = random_servers(np.random.default_rng(seed), 10, 2, idle=0.0)
        assert parents_of(greedy(servers, False, model)) == {None: greedy_in_plain_words(servers, model)}


def test_dita_never_puts_a_server_below_a_less_demanding_one() -> None:
    servers = random_servers(np.random.default_rng(2), 40, 3)
    forest = dita(servers, per_object=True)
    for number, object_ in enumerate(forest.objects):
        x = servers.objects.index(str(object_))
        for child, parent in parents_of(forest)[x].items():
            assert parent == 0 or servers.rates[parent, x] >= servers.rates[child, x]
        assert np.count_nonzero(forest.tree_of == number) == servers.wanted[:, x].sum() + 1


def test_dita_tries_every_small_limit_on_children() -> None:
    assert limits(2) == [1]
    assert limits(20) == [*range(1, 17), 20]
    assert limits(10_000)[-1] >= 9_999


def overloaded_star(per_object: bool, model: LossModel) -> Forest:
    drawn = random_servers(np.random.default_rng(3), 40, 3, idle=0.0)
    servers = Servers(drawn.filter_time, drawn.transmit_time, drawn.rates * 15, drawn.delays)
    forest = star(servers, per_object, model)
    assert forest.cost.overload > 0
    assert forest.fidelity.average == np.inf
    return forest


def adding_search(forest: Forest) -> Forest:
    return improve(forest, LocalSearch(rounds=2000))


@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("model", [APPROXIMATE, LossModel(True, Overhead())], ids=str)
@pytest.mark.parametrize("search", [descend, adding_search, anneal_from], ids=lambda search: search.__name__)
def test_searches_walk_out_of_an_overload(search, model: LossModel, per_object: bool) -> None:  # type: ignore[no-untyped-def]
    forest = search(overloaded_star(per_object, model))
    assert forest.cost.overload == 0
    assert 0 < forest.fidelity.average < np.inf


def test_annealing_with_the_papers_parameters() -> None:
    """Hot for small losses, infinitely hot from an overload: it keeps the best it has seen all the same."""
    servers = random_servers(np.random.default_rng(5), 20, idle=0.0)
    start = random_tree(servers, seed=LITERAL.seed).cost.loss
    found = anneal(servers, schedule=LITERAL)
    assert found.cost.loss < start
    forest = anneal_from(overloaded_star(False, APPROXIMATE), LITERAL)
    assert forest.cost.overload == 0


def test_local_and_annealing_end_where_no_move_improves() -> None:
    servers = random_servers(np.random.default_rng(6), 40, 2)
    for forest in (local(servers), anneal(servers)):
        least = -1e-11 * forest.cost.loss
        for seat in range(len(forest)):
            for move in moves_of(forest, seat):
                change = forest.evaluate(move)
                assert not better(change.overload, change.loss, 0.0, least)


def test_local_is_as_good_as_annealing() -> None:
    """The benchmark has the paper's size; here a small one, so that a blunder is seen at once."""
    ours, theirs = 0.0, 0.0
    for seed in range(4):
        servers = random_servers(np.random.default_rng(seed), 64)
        ours += local(servers).fidelity.average
        theirs += anneal(servers).fidelity.average
    assert ours <= 1.01 * theirs


def test_progress_runs_from_0_to_1() -> None:
    servers = random_servers(np.random.default_rng(6), 30)
    for build in (local, anneal):
        shares: list[float] = []
        build(servers, progress=shares.append)
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] == 1.0


@pytest.mark.parametrize(
    "bad",
    [{"start": 0.0}, {"start": np.inf}, {"frozen": 0.0}, {"cooling": 1.0}, {"cooling": 0.0}, {"moves": 0},
     {"patience": -1}],
)  # fmt: skip
def test_a_bad_schedule_is_an_error(bad: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        Schedule(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"rounds": -1}, {"out": 0}])
def test_a_bad_search_is_an_error(bad: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        LocalSearch(**bad)


@pytest.mark.parametrize(
    "bad",
    [{"collect_time": -1.0}, {"decide_time": np.nan}, {"collect_period": 0.0}, {"decide_period": np.inf},
     {"collect_time": 1e31}, {"decide_period": 1e-31}],
)  # fmt: skip
def test_a_bad_overhead_is_an_error(bad: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        Overhead(**bad)  # type: ignore[arg-type]
