import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.overlay.attachment import CORES
from polycast.overlay.cost import cost_of
from polycast.overlay.ledger import Ledger, access_change, core_change, core_change_of_swap, ledger_of, move
from tests.overlay.overlays import odd_overlay, random_overlay


def wander(ledger: Ledger, rng: np.random.Generator, moves: int) -> float:
    """Move and swap at random; return the sum of what was said beforehand that it would change."""
    users, brokers = ledger.access.shape
    said = 0.0
    for _ in range(moves):
        user, other, b = (int(rng.integers(n)) for n in (users, users, brokers))
        if rng.random() < 0.5:
            a, b = int(ledger.broker[user]), int(ledger.broker[other])
            if np.isinf(ledger.access[user, b]) or np.isinf(ledger.access[other, a]):
                continue
            said += access_change(ledger, user, b) + access_change(ledger, other, a)
            said += core_change_of_swap(ledger, user, other)
            move(ledger, user, b)
            move(ledger, other, a)
        elif np.isfinite(ledger.access[user, b]):
            said += access_change(ledger, user, b) + core_change(ledger, user, b)
            move(ledger, user, b)
    return said


@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_what_is_kept_is_what_is_recomputed(core: str, seed: int) -> None:
    overlay = odd_overlay(seed, users=12, brokers=6)
    if not overlay.users:
        return
    ledger = ledger_of(overlay, np.isfinite(overlay.access_cost).argmax(axis=1).astype(np.int32), core)
    before = ledger.total.sum()
    said = wander(ledger, np.random.default_rng(seed), 60)
    cost = cost_of(overlay, ledger.broker, core)
    assert ledger.total.tolist() == pytest.approx([cost.access, cost.core], abs=1e-9)
    assert before + said == pytest.approx(cost.total, abs=1e-9)
    again = ledger_of(overlay, ledger.broker, core)
    for kept in ("none", "single", "members", "readers"):
        assert np.array_equal(getattr(ledger, kept), getattr(again, kept))
    assert np.allclose(ledger.load, again.load)


@pytest.mark.parametrize("core", CORES)
def test_thousands_of_moves_on_a_larger_network(core: str) -> None:
    overlay = random_overlay(np.random.default_rng(8), 300, 30, 70, wanting=0.03, publishing=0.3)
    ledger = ledger_of(overlay, np.zeros(300, np.int32), core)
    before = ledger.total.sum()
    said = wander(ledger, np.random.default_rng(9), 5_000)
    cost = cost_of(overlay, ledger.broker, core)
    assert ledger.total.tolist() == pytest.approx([cost.access, cost.core], rel=1e-9)
    assert before + said == pytest.approx(cost.total, rel=1e-9)
