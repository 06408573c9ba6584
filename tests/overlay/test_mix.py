"""Trees that publishers share are the trees that the paper grows for each of them."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.overlay.mix import attach_by_mixing
from polycast.overlay.search import Search
from tests.overlay.overlays import odd_overlay, random_overlay


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_sharing_changes_nothing(seed: int) -> None:
    overlay = odd_overlay(seed, users=20, brokers=6)
    overlay = replace(overlay, capacity=np.full(overlay.brokers, np.inf))
    shared, literal = Search(overlay, seed=seed), Search(overlay, seed=seed)
    attach_by_mixing(shared)
    attach_by_mixing(literal, share=False)
    assert shared.best is not None
    assert literal.best is not None
    assert np.array_equal(shared.best.broker, literal.best.broker)


def test_sharing_changes_nothing_on_a_larger_network() -> None:
    overlay = random_overlay(np.random.default_rng(3), 400, 20, 10, tightness=0.5)
    shared, literal = Search(overlay), Search(overlay)
    attach_by_mixing(shared)
    attach_by_mixing(literal, share=False)
    assert shared.best is not None
    assert literal.best is not None
    assert np.array_equal(shared.best.broker, literal.best.broker)
