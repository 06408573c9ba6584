"""Local search: what it leaves nobody can better by one move or swap, and its slices change nothing."""

import numpy as np
import pytest

from polycast.overlay import local
from polycast.overlay.attachment import CORES, Overlay
from polycast.overlay.cost import cost_of
from polycast.overlay.search import Search
from tests.overlay.overlays import random_overlay


def found(overlay: Overlay, core: str = CORES[0]) -> np.ndarray:
    search = Search(overlay, core)
    local.attach_locally(search)
    assert search.best is not None
    return search.best.broker


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(20))
def test_no_move_and_no_swap_helps(core: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    overlay = random_overlay(
        rng, 14, 4, 12, wanting=rng.choice([0.05, 0.2, 0.5]), tightness=rng.choice([0.4, 0.9])
    )
    broker = found(overlay, core)
    best = cost_of(overlay, broker, core).total
    for user in range(overlay.users):
        for other in (*range(user), *(-1 - np.arange(overlay.brokers))):
            there = broker.copy()
            there[user] = broker[other] if other >= 0 else -1 - other
            if other >= 0:
                there[other] = broker[user]
            load = np.bincount(there, overlay.demand, overlay.brokers)
            if (load <= overlay.room).all():
                assert cost_of(overlay, there, core).total >= best * (1 - 1e-9)


@pytest.mark.parametrize("wanting", [0.02, 0.1, 0.4])
def test_slices_change_nothing(wanting: float, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = random_overlay(np.random.default_rng(3), 400, 4, 60, wanting=wanting)
    monkeypatch.setattr(local, "SLICE", 0.0)
    in_slices = found(overlay)
    monkeypatch.setattr(local, "SLICE", 100.0)
    assert np.array_equal(in_slices, found(overlay))
