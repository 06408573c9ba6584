"""The exact method against brute force, and what it does when it cannot go on."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.overlay.attachment import CORES, Overlay
from polycast.overlay.exact import message_trees
from polycast.overlay.solve import solve
from tests.oracles import overlay as truth
from tests.overlay.overlays import odd_overlay, random_overlay


@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_it_is_the_best_of_all(core: str, seed: int) -> None:
    overlay = odd_overlay(seed, users=6, brokers=3)
    optimum = truth.best(overlay, core)
    if optimum == math.inf:
        with pytest.raises(NoSolution, match="none exists"):
            solve(overlay, "exact", core=core)
    else:
        solution = solve(overlay, "exact", core=core)
        assert solution.attachment.cost.total == pytest.approx(optimum, rel=1e-9, abs=1e-9)
        assert solution.lower_bound == pytest.approx(optimum, rel=1e-9, abs=1e-9)


def test_publishers_that_subscribe_and_channels_with_the_same_subscribers_share_a_tree() -> None:
    everybody = random_overlay(np.random.default_rng(0), 6, 3, 5, publishing=1, wanting=1)
    (tree,) = message_trees(everybody)
    assert (tree.root, tree.ends) == (0, (1, 2, 3, 4, 5))
    assert tree.rate == pytest.approx(everybody.rate.sum())
    nobody = random_overlay(np.random.default_rng(0), 6, 3, 5, publishing=1, wanting=0)
    assert message_trees(nobody) == []


def test_a_time_limit_leaves_the_best_so_far_and_an_honest_bound() -> None:
    overlay = random_overlay(np.random.default_rng(1), 20, 5, 6)
    start = time.perf_counter()
    solution = solve(overlay, "exact", time_limit=1.0)
    assert time.perf_counter() - start < 20
    assert 0 < solution.lower_bound < solution.attachment.cost.total


def test_a_large_network_is_refused_and_told_what_to_do() -> None:
    overlay = random_overlay(np.random.default_rng(1), 300, 20, 20)
    with pytest.raises(NoSolution, match=r"exact is for small networks.*local"):
        solve(overlay, "exact")


def test_capacities_hold_to_the_last_digit() -> None:
    """A broker that is too small by a millionth is full for HiGHS, and too small for us."""
    overlay = Overlay(
        publishes=[[1.0], [1.0], [1.0]],
        interest=np.zeros((3, 1)),
        access_cost=[[1.0, 5.0]] * 3,
        core_cost=[[0.0, 1.0], [1.0, 0.0]],
        capacity=[3.0 - 1e-8, np.inf],
    )
    solution = solve(overlay, "exact")
    assert not solution.attachment.over
    assert solution.attachment.cost.total == solution.lower_bound == 7.0
