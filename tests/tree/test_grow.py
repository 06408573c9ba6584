"""Every builder through the same properties; the optimum and the bound against brute force."""

import numpy as np
import pytest

from polycast.errors import BadInput, NoSolution
from polycast.tree import METHODS, LossModel, Overhead, Servers, evaluate, grow
from polycast.tree.bounds import lower_bound
from polycast.tree.servers import MOST
from tests.checks import check_growth
from tests.oracles import fidelity as truth
from tests.tree.instances import random_servers

DEAR = Overhead(1e-3, 1e-3, 1.0, 1.0)
MODELS = [LossModel(), LossModel(precise=True), LossModel(overhead=DEAR), LossModel(True, DEAR)]
INEXACT = [method for method in METHODS if method != "exact"]


def small_cases(
    seed: int, count: int, loads: tuple[float, ...] = (1.0, 20.0, 100.0)
) -> list[tuple[Servers, bool]]:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        objects, per_object = int(rng.integers(1, 3)), bool(rng.integers(2))
        size = int(rng.integers(1, 5 if per_object else 6))
        load, source_rates = float(rng.choice(loads)), bool(rng.integers(2))
        cases.append((random_servers(rng, size, objects, load=load, source_rates=source_rates), per_object))
    return cases


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_method_on_small_cases(model: LossModel) -> None:
    for servers, per_object in small_cases(1, 12):
        optimum = truth.best(servers, per_object, model)
        assert lower_bound(servers, per_object, model) <= optimum * (1 + 1e-9)
        for method in METHODS:
            growth = grow(servers, method, per_object=per_object, model=model)
            check_growth(servers, growth, per_object, model, optimum)
        assert growth.method == "exact"
        assert growth.average_loss == pytest.approx(optimum, rel=1e-9)
        assert growth.lower_bound == growth.average_loss


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_method_and_no_bound_beats_the_optimum_thousands_of_times(model: LossModel, seed: int) -> None:
    for servers, per_object in small_cases(seed, 100):
        optimum = grow(servers, "exact", per_object=per_object, model=model).average_loss
        for method in INEXACT:
            growth = grow(servers, method, per_object=per_object, model=model)
            check_growth(servers, growth, per_object, model, optimum)


@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("method", INEXACT)
def test_every_method_on_larger_cases(method: str, per_object: bool) -> None:
    rng = np.random.default_rng(3)
    for load in (1.0, 8.0):
        servers = random_servers(rng, 40, 4, load=load)
        growth = grow(servers, method, per_object=per_object, seed=5)
        check_growth(servers, growth, per_object, LossModel())
        assert lower_bound(servers, per_object) <= growth.average_loss
        again = grow(servers, method, per_object=per_object, seed=5)
        assert again.trees == growth.trees


def odd_servers() -> dict[str, Servers]:
    rng = np.random.default_rng(9)
    usual = random_servers(rng, 12, 2)
    ones, none = np.ones(12), np.zeros((12, 2))
    return {
        "nobody wants anything": Servers(usual.filter_time, usual.transmit_time, none, usual.delays),
        "no objects": Servers(usual.filter_time, usual.transmit_time, none[:, :0], usual.delays),
        "equal servers": Servers(ones * 0.005, ones * 0.001, none + 1.0, np.full((12, 12), 0.02)),
        "zero delays": Servers(usual.filter_time, usual.transmit_time, usual.rates, np.zeros((12, 12))),
        "zero times": Servers(ones * 0, ones * 0, usual.rates, usual.delays),
        "all zero": Servers(ones * 0, ones * 0, usual.rates, np.zeros((12, 12))),
        "a million a second": Servers(ones * 2e-8, ones * 1e-8, none + 1e6, usual.delays),
        "too much for all": Servers(ones, ones, none + 1e6, usual.delays),
        "rates from 1 to 1e-33": Servers(
            ones * 0.001, ones * 0.001, 10.0 ** -np.arange(0, 36, 1.5).reshape(12, 2), usual.delays
        ),
        "all as large as can be": Servers(ones * MOST, ones * MOST, none + MOST, np.full((12, 12), MOST)),
        "tiny rates": Servers(usual.filter_time, usual.transmit_time, usual.rates * 1e-300, usual.delays),
        "the source alone": Servers(ones[:1], ones[:1], none[:1], none[:1, :1]),
        "asymmetric": Servers(usual.filter_time, usual.transmit_time, usual.rates, rng.random((12, 12))),
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("per_object", [False, True])
@pytest.mark.parametrize("case", odd_servers())
def test_odd_servers(case: str, per_object: bool) -> None:
    servers = odd_servers()[case]
    for model in MODELS:
        for method in INEXACT:
            check_growth(servers, grow(servers, method, per_object=per_object, model=model), per_object, model)


def test_nothing_can_serve_and_the_bound_knows() -> None:
    growth = grow(odd_servers()["too much for all"], "local")
    assert growth.average_loss == growth.lower_bound == np.inf
    assert growth.overloaded


@pytest.mark.parametrize("precise", [False, True])
def test_the_bound_is_the_optimum_of_equal_servers_without_delays(precise: bool) -> None:
    for count in range(2, 8):
        ones, model = np.ones(count), LossModel(precise)
        servers = Servers(ones * 0.005, ones * 0.001, ones[:, None], np.zeros((count, count)))
        optimum = grow(servers, "exact", model=model).average_loss
        assert lower_bound(servers, model=model) == pytest.approx(optimum, rel=1e-9)


def test_exact_declines_what_would_take_for_ever() -> None:
    servers = random_servers(np.random.default_rng(0), 12)
    with pytest.raises(NoSolution, match="too many"):
        grow(servers, "exact")


def test_evaluate_tells_the_same() -> None:
    servers = random_servers(np.random.default_rng(4), 30, 3)
    for per_object in (False, True):
        growth = grow(servers, "greedy", per_object=per_object)
        assert evaluate(servers, growth.trees).average_loss == pytest.approx(growth.average_loss, rel=1e-12)


def test_ctrl_c_leaves_the_best_so_far() -> None:
    servers = random_servers(np.random.default_rng(4), 60)
    started = grow(servers, "greedy")

    def interrupt(_share: float | None, message: str) -> None:
        if message != "greedy":
            raise KeyboardInterrupt

    for method in ("local", "anneal"):
        growth = grow(servers, method, on_progress=interrupt)
        assert growth.interrupted
        check_growth(servers, growth, False, LossModel())
        assert growth.average_loss <= started.average_loss


def test_ctrl_c_leaves_the_best_limit_that_dita_has_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = random_servers(np.random.default_rng(4), 60)

    def interrupt(share: float | None, _message: str) -> None:
        if share is not None and share > 0.1:
            raise KeyboardInterrupt

    growth = grow(servers, "dita", on_progress=interrupt)
    assert growth.interrupted
    monkeypatch.setattr("polycast.tree.dita.limits", lambda _: [1, 2, 3])  # of 23
    assert growth.trees == grow(servers, "dita").trees


@pytest.mark.parametrize(
    ("bad", "why"),
    [(np.nan, "finite"), (np.inf, "finite"), (-1.0, "finite"), (1e31, r"1e\+31 is more than 1e\+30")],
)
@pytest.mark.parametrize("field", ["filter_time", "transmit_time", "rates", "delays"])
def test_unsound_numbers_are_errors(field: str, bad: float, why: str) -> None:
    arrays = {
        "filter_time": np.ones(3),
        "transmit_time": np.ones(3),
        "rates": np.ones((3, 2)),
        "delays": np.ones((3, 3)),
    }
    arrays[field].flat[-1] = bad
    with pytest.raises(BadInput, match=why):
        Servers(**arrays)


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(BadInput, match="method"):
        grow(random_servers(np.random.default_rng(0), 3), "best")
