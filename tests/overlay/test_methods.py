"""What every attachment method must be able to do; the methods come from ``METHODS``."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.overlay.attachment import CORES, Overlay
from polycast.overlay.solve import METHODS, evaluate, solve
from tests.checks import check_attachment
from tests.oracles import overlay as truth
from tests.overlay.overlays import odd_overlay, random_overlay

every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_capacities_hold_and_bounds_are_bounds(method: str, core: str, seed: int) -> None:
    overlay = odd_overlay(seed, users=5, brokers=3)
    optimum = truth.best(overlay, core)
    if optimum == math.inf:
        with pytest.raises(NoSolution, match="none exists"):
            solve(overlay, method, core=core)
    else:
        check_attachment(overlay, solve(overlay, method, core=core, seed=seed % 7), optimum)


@every_method
def test_the_same_seed_gives_the_same_answer(method: str) -> None:
    overlay = random_overlay(np.random.default_rng(5), 9, 3, 3)
    first, second = (solve(overlay, method, seed=3) for _ in range(2))
    assert np.array_equal(first.attachment.broker, second.attachment.broker)
    assert first.lower_bound == second.lower_bound


@every_method
def test_tight_capacities_are_met_all_the_same(method: str) -> None:
    """Two large and two small users, in the order that a packing gets wrong."""
    overlay = Overlay(
        publishes=[[2.0], [2.0], [4.0], [4.0]],
        interest=np.zeros((4, 1)),
        access_cost=[[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0]],
        core_cost=[[0.0, 1.0], [1.0, 0.0]],
        capacity=[8.0, 4.0],
    )
    solution = solve(overlay, method)
    check_attachment(overlay, solution, truth.best(overlay, "per-publisher"))


@every_method
def test_one_broker(method: str) -> None:
    overlay = random_overlay(np.random.default_rng(1), 9, 1, 3, tightness=0)
    solution = solve(overlay, method)
    assert not solution.attachment.broker.any()
    assert solution.attachment.cost.core == 0
    assert solution.lower_bound == pytest.approx(solution.attachment.cost.total)


@every_method
def test_nobody_wants_or_publishes_anything(method: str) -> None:
    nothing = random_overlay(np.random.default_rng(2), 9, 3, 2, publishing=0, wanting=0, tightness=0)
    overlay = Overlay(nothing.publishes, nothing.interest, nothing.access_cost, nothing.core_cost, np.zeros(3))
    assert solve(overlay, method).attachment.cost.total == 0


@every_method
def test_zero_capacity_holds_no_traffic(method: str) -> None:
    overlay = random_overlay(np.random.default_rng(2), 9, 3, 2, tightness=0)
    room = np.array([np.inf, 0.0, np.inf])
    overlay = Overlay(overlay.publishes, overlay.interest, overlay.access_cost, overlay.core_cost, room)
    solution = solve(overlay, method)
    assert not (overlay.demand[solution.attachment.broker == 1] > 0).any()
    with pytest.raises(NoSolution, match="none exists"):
        solve(
            Overlay(overlay.publishes, overlay.interest, overlay.access_cost, overlay.core_cost, np.zeros(3)),
            method,
        )


def test_what_is_over_its_capacity_is_named() -> None:
    overlay = random_overlay(np.random.default_rng(3), 20, 4, 3, tightness=0.9)
    solution = evaluate(overlay, np.zeros(20, np.int32))
    assert solution.attachment.over == [0]


@every_method
def test_ctrl_c_leaves_the_best_so_far(method: str) -> None:
    """Wherever it comes: there is an attachment and a bound, or a clear word that there is none yet."""
    overlay = random_overlay(np.random.default_rng(5), 9, 3, 3)
    found, told = 0, set[str]()
    for patience in range(12):
        calls = iter(range(1000))

        def interrupt(_: float | None, __: str, calls: Iterator[int] = calls, patience: int = patience) -> None:
            if next(calls) == patience:
                raise KeyboardInterrupt

        try:
            solution = solve(overlay, method, on_progress=interrupt)
        except NoSolution as error:
            told.add(str(error))
        else:
            check_attachment(overlay, solution)
            found += 1
    assert found
    assert told <= {"interrupted before any attachment was found"}
