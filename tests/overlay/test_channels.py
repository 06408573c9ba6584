import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.overlay.channels import ContentSpace, from_function, middles, quadratics, random_quadratics

SPACE = ContentSpace((-1.0, 0.0), (1.0, 8.0), (4, 2))


def test_a_channel_is_a_cell_and_the_last_attribute_varies_fastest() -> None:
    assert SPACE.channels == 8
    assert SPACE.channel_of([[-1.0, 0.0], [-1.0, 8.0], [-0.5, 3.9], [1.0, 8.0]]).tolist() == [0, 1, 2, 7]
    assert SPACE.channel_of([[-1.1, 0.0], [0.0, np.nan], [0.0, np.inf]]).tolist() == [-1, -1, -1]
    assert SPACE.channel_of(middles(SPACE)).tolist() == list(range(8))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_a_subscription_needs_the_fewest_cells_that_hold_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform([-1.5, -2.0], [1.5, 10.0], (2, 2)), axis=0)
    wanted = SPACE.interest(ends[:1], ends[1:])[0]
    inside = rng.uniform(ends[0], ends[1], (400, 2))
    met = SPACE.channel_of(inside)
    assert wanted[met[met >= 0]].all()
    corners = [np.array([edges[:-1], edges[1:]]) for edges in SPACE.edges]
    for channel in np.flatnonzero(wanted):
        cell = np.unravel_index(channel, SPACE.cells)
        for attribute, at in enumerate(cell):
            low, high = corners[attribute][:, at]
            assert ends[0, attribute] < high
            assert ends[1, attribute] > low


def test_boxes_at_the_edge() -> None:
    line = ContentSpace((0.0,), (1.0,), (4,))
    low, high = np.array([[0.25], [0.5], [1.0], [0.6], [2.0]]), np.array([[0.5], [0.5], [1.0], [0.4], [3.0]])
    assert [np.flatnonzero(row).tolist() for row in line.interest(low, high)] == [[1], [2], [3], [], []]


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_quadratic_is_integrated_without_its_negative_part(seed: int) -> None:
    rng = np.random.default_rng(seed)
    line = ContentSpace((0.0,), (1.0,), (7,))
    a, b, c = random_quadratics(4, rng)
    a = np.where(rng.random(4) < 0.2, 0.0, a)
    fine = ContentSpace((0.0,), (1.0,), (7 * 2000,))
    x = middles(fine)[:, 0]
    density = np.maximum(0.0, (a[:, None] * x + b[:, None]) * x + c[:, None])
    assert quadratics(line, a, b, c) == pytest.approx(density.reshape(4, 7, 2000).mean(axis=2) / 7, abs=1e-6)


def test_a_density_is_spread_over_the_size_of_a_cell() -> None:
    assert from_function(SPACE, np.full(8, 3.0)).tolist() == [[6.0] * 8]
    assert from_function(SPACE, np.full(8, -3.0)).sum() == 0


@pytest.mark.parametrize(
    ("low", "high", "cells"),
    [((), (), ()), ((0.0,), (1.0, 2.0), (3,)), ((1.0,), (1.0,), (3,)), ((0.0,), (np.inf,), (3,)),
     ((np.nan,), (1.0,), (3,)), ((0.0,), (1.0,), (0,))],
)  # fmt: skip
def test_an_impossible_space_is_refused(low: tuple[float], high: tuple[float], cells: tuple[int]) -> None:
    with pytest.raises(BadInput, match="space"):
        ContentSpace(low, high, cells)


def test_a_quadratic_has_one_attribute() -> None:
    with pytest.raises(BadInput, match="one attribute"):
        quadratics(SPACE, np.ones(1), np.ones(1), np.ones(1))
