import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.overlay.attachment import CORES, Attachment, Overlay
from tests.oracles import overlay as truth
from tests.overlay.overlays import odd_overlay


@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_the_cost_is_the_definition(core: str, seed: int) -> None:
    overlay = odd_overlay(seed, users=12, brokers=7)
    reach = np.isfinite(overlay.access_cost) + np.random.default_rng(seed).random(overlay.access_cost.shape)
    attachment = Attachment(overlay, reach.argmax(axis=1), core)
    assert attachment.cost.access == pytest.approx(truth.access(overlay, attachment.broker))
    assert attachment.cost.core == pytest.approx(truth.core(overlay, attachment.broker, core))


SOUND = {
    "publishes": np.ones((2, 1)),
    "interest": np.ones((2, 1)),
    "access_cost": np.ones((2, 3)),
    "core_cost": np.ones((3, 3)),
    "capacity": np.full(3, np.inf),
}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"publishes": np.array([[1.0], [np.nan]])}, r"users\[1\].publishes\[0\]"),
        ({"publishes": np.array([[-1.0], [0.0]])}, r"users\[0\].publishes\[0\]"),
        ({"access_cost": np.array([[1.0, 2.0, np.nan]] * 2)}, r"access_cost\[0\]\[2\]"),
        ({"access_cost": np.ones((2, 2))}, "access_cost"),
        ({"core_cost": np.full((3, 3), np.inf)}, r"core_cost\[0\]\[0\]"),
        ({"core_cost": np.arange(9.0).reshape(3, 3)}, r"core_cost\[0\]\[1\]"),
        ({"capacity": np.array([1.0, -1.0, 1.0])}, r"brokers\[1\].capacity"),
        ({"capacity": np.empty(0), "core_cost": np.empty((0, 0)), "access_cost": np.empty((2, 0))}, "brokers"),
        ({"user_names": ("a", "a")}, "users"),
        ({"publishes": np.full((2, 1), 1e308)}, "users"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, np.ndarray], where: str) -> None:
    with pytest.raises(BadInput, match=where):
        Overlay(**SOUND | change)


def test_a_detour_that_is_cheaper_is_found() -> None:
    core = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    assert Overlay(**SOUND | {"core_cost": core}).detour() == (2, 1, 0)
    assert Overlay(**SOUND).detour() is None


def test_messages_that_nobody_wants_can_be_left_out() -> None:
    overlay = Overlay(
        publishes=[[1.0, 2.0], [4.0, 8.0]],
        interest=[[True, False], [False, False]],
        access_cost=np.ones((2, 1)),
        core_cost=np.zeros((1, 1)),
        capacity=[np.inf],
    )
    assert overlay.demand.tolist() == [7.0, 12.0]
    assert overlay.wanted_only().demand.tolist() == [4.0, 4.0]


def test_an_impossible_attachment_is_refused() -> None:
    overlay = Overlay(**SOUND | {"access_cost": np.array([[1.0, 1.0, np.inf]] * 2)})
    for broker in ([0, 2], [0, 3], [0, -1], [0]):
        with pytest.raises(BadInput, match="attachments"):
            Attachment(overlay, np.array(broker))
