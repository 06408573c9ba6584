import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.overlay.channels import ContentSpace, middles, quadratics
from polycast.overlay.summary import Summary

SPACE = ContentSpace((0.0,), (1.0,), (10,))


@given(seed=st.integers(0, 2**32 - 1), half_life=st.sampled_from([None, 0.5, 30.0]))
@settings(max_examples=100, deadline=None)
def test_in_pieces_and_in_any_order_it_is_the_weighted_count(seed: int, half_life: float | None) -> None:
    rng = np.random.default_rng(seed)
    space = ContentSpace((0.0, -1.0), (1.0, 1.0), (3, 4))
    values, at = rng.uniform(-1.2, 1.2, (50, 2)), rng.uniform(2.0, 9.0, 50)
    amounts = rng.random(50)
    summary = Summary(space, start=2.0, half_life=half_life)
    for piece in np.array_split(rng.permutation(50), rng.integers(1, 9)):
        summary.add(values[piece], at[piece], amounts[piece])
    expected, channel = np.zeros(12), space.channel_of(values)
    for i in np.flatnonzero(channel >= 0):
        expected[channel[i]] += amounts[i] * (1.0 if half_life is None else 0.5 ** ((10.0 - at[i]) / half_life))
    whole = 8.0 if half_life is None else half_life / math.log(2) * (1 - 0.5 ** (8.0 / half_life))
    assert summary.rates(10.0) == pytest.approx(expected / whole)
    assert summary.outside == (channel < 0).sum()


@pytest.mark.parametrize("half_life", [None, 200.0])
def test_a_history_drawn_from_a_function_gives_the_function_back(half_life: float | None) -> None:
    declared = quadratics(SPACE, np.array([4.0]), np.array([-4.0]), np.array([1.0]))[0]
    rng = np.random.default_rng(5)
    summary, size = Summary(SPACE, half_life=half_life), summary_size(Summary(SPACE))
    for second in range(1000):
        many = rng.poisson(300 * declared)
        summary.add(np.repeat(middles(SPACE), many, axis=0), float(second) + rng.random(many.sum()))
    assert summary.rates(1000.0) == pytest.approx(300 * declared, rel=0.15)
    assert summary_size(summary) == size


def summary_size(summary: Summary) -> int:
    return sum(value.nbytes for value in vars(summary).values() if isinstance(value, np.ndarray))


def test_with_a_half_life_it_follows_a_change() -> None:
    for half_life, least, most in ((None, 0.4, 0.6), (20.0, 0.0, 0.01)):
        summary = Summary(SPACE, half_life=half_life)
        summary.add(np.full((300, 1), 0.15), np.arange(300.0))
        summary.add(np.full((300, 1), 0.85), np.arange(300.0, 600.0))
        rates = summary.rates(600.0)
        assert least <= rates[1] <= most
        assert rates[8] == pytest.approx(1.0, abs=0.51)


def test_what_cannot_be_placed_is_counted() -> None:
    summary = Summary(SPACE)
    summary.add([[np.nan], [2.0], [0.5]], [1.0, 1.0, 1.0])
    assert summary.outside == 2
    assert summary.rates(2.0).sum() == 0.5


@pytest.mark.parametrize("at", [-1.0, np.nan, np.inf])
def test_impossible_times_are_named(at: float) -> None:
    with pytest.raises(BadInput, match="at"):
        Summary(SPACE).add([[0.5]], [at])


def test_rates_need_some_time() -> None:
    summary = Summary(SPACE)
    with pytest.raises(BadInput, match="now"):
        summary.rates(0.0)
    summary.add([[0.5]], [3.0])
    for now in (2.0, np.nan):
        with pytest.raises(BadInput, match="now"):
            summary.rates(now)
    with pytest.raises(BadInput, match="half_life"):
        Summary(SPACE, half_life=0.0)
