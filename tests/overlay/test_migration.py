"""Migration: what a broker decides by itself is right for all, and it all comes to rest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import NoSolution
from polycast.overlay.attachment import CORES, Attachment, Indices, Overlay
from polycast.overlay.cost import cost_of
from polycast.overlay.ledger import access_change, core_change, fits, ledger_of
from polycast.overlay.migration import Redirect, Turn, arrive, settle, view_of
from tests.overlay.overlays import odd_overlay, random_overlay


def anywhere(overlay: Overlay) -> Indices:
    return np.isfinite(overlay.access_cost).argmax(axis=1).astype(np.int32)


def helps(overlay: Overlay, broker: Indices, core: str) -> bool:
    """Whether any user could move, with room, to make the overlay cheaper: by the ledger of all users."""
    ledger = ledger_of(overlay, broker, core)
    least = -1e-9 * max(1.0, ledger.total.sum())
    return any(
        access_change(ledger, u, b) + core_change(ledger, u, b) < least
        for u in range(overlay.users)
        for b in range(overlay.brokers)
        if b != broker[u] and fits(ledger, u, b)
    )


@pytest.mark.parametrize("core", CORES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_every_redirect_changes_what_it_says_and_none_is_left_in_the_end(core: str, seed: int) -> None:
    overlay = odd_overlay(seed, users=14, brokers=5)
    broker = anywhere(overlay)
    settled = settle(overlay, broker, core=core)
    for redirect in settled.redirects:
        before, load = cost_of(overlay, broker, core).total, Attachment(overlay, broker, core).load
        assert broker[redirect.user] == redirect.source
        broker[redirect.user] = redirect.target
        after = cost_of(overlay, broker, core).total
        assert after - before == pytest.approx(redirect.change, abs=1e-9 * max(1.0, before))
        assert after < before or load[redirect.source] > overlay.room[redirect.source]
        assert Attachment(overlay, broker, core).load[redirect.target] <= overlay.room[redirect.target]
    assert settled.quiet
    assert np.array_equal(broker, settled.attachment.broker)
    assert not helps(overlay, broker, core)


def test_a_view_holds_no_more_of_other_brokers_than_sums() -> None:
    """Two users elsewhere or one who publishes and wants the same: no difference to a broker."""
    overlay = random_overlay(np.random.default_rng(1), 6, 2, 3, tightness=0)
    view = view_of(overlay, np.array([0, 0, 1, 1, 1, 1], np.int32), 0)
    assert view.users.tolist() == [0, 1]
    assert len(view.publishes) == len(view.interest) == len(view.access_cost) == 2
    assert view.subscribed.dtype == np.bool_
    assert np.allclose(view.published[1], overlay.publishes[2:].sum(axis=0))


def scattered(users: int = 40, brokers: int = 5) -> Overlay:
    """Access matters more than the core, so that not everybody wants to be at one broker."""
    overlay = random_overlay(np.random.default_rng(4), users, brokers, 4, tightness=0)
    return replace(overlay, core_cost=overlay.core_cost / 1000)


def two_friends() -> Overlay:
    """Two users who want what the other publishes, and two brokers that cost them the same."""
    return Overlay(
        publishes=[[1.0, 0.0], [0.0, 1.0]],
        interest=[[False, True], [True, False]],
        access_cost=np.ones((2, 2)),
        core_cost=[[0.0, 5.0], [5.0, 0.0]],
        capacity=np.full(2, np.inf),
    )


def test_all_at_once_they_would_chase_each_other_for_ever() -> None:
    overlay, broker = two_friends(), np.array([0, 1], np.int32)
    for _ in range(4):
        asked = [Turn(view_of(overlay, broker, b)).ask() for b in range(2)]
        assert all(redirect is not None and redirect.change < 0 for redirect in asked)
        for redirect in asked:
            assert redirect is not None
            broker[redirect.user] = redirect.target
        assert cost_of(overlay, broker, "per-publisher").core == 10.0
    settled = settle(overlay, broker)
    assert settled.attachment.cost.core == 0
    assert len(settled.redirects) == 1


def test_the_heaviest_are_asked_first() -> None:
    overlay = scattered()
    turn, demands = Turn(view_of(overlay, np.zeros(40, np.int32), 0)), []
    while (redirect := turn.ask()) is not None:
        turn.accepted()
        demands.append(overlay.demand[redirect.user])
    assert len(demands) > 5
    assert demands == sorted(demands, reverse=True)


def test_a_user_may_decline() -> None:
    overlay = scattered()
    start = np.zeros(40, np.int32)
    assert {redirect.user for redirect in settle(overlay, start).redirects} > {7}
    settled = settle(overlay, start, accepts=lambda redirect: redirect.user != 7)
    assert settled.attachment.broker[7] == 0
    assert settled.quiet


def test_they_follow_changed_rates_arrivals_and_departures() -> None:
    rng = np.random.default_rng(6)
    overlay = random_overlay(rng, 200, 8, 10, tightness=0.6)
    broker = settle(overlay, np.full(200, -1)).attachment.broker
    assert not settle(overlay, broker).redirects
    louder = replace(overlay, publishes=overlay.publishes * rng.choice([0.2, 1.0, 1.8], (200, 1)))
    stay = np.arange(200) >= 20
    new = replace(
        louder,
        publishes=louder.publishes[stay],
        interest=louder.interest[stay],
        access_cost=louder.access_cost[stay],
    )
    arrived = np.where(np.arange(180) >= 170, -1, broker[stay])
    settled = settle(new, arrived)
    start = Attachment(new, arrive(new, arrived))
    assert settled.redirects
    assert settled.attachment.cost.total < start.cost.total or start.over
    assert not helps(new, settled.attachment.broker, "per-publisher")


def test_a_broker_that_is_over_sends_users_away_though_it_costs() -> None:
    overlay = Overlay(
        publishes=[[2.0], [1.0]],
        interest=np.zeros((2, 1)),
        access_cost=[[1.0, 9.0], [1.0, 9.0]],
        core_cost=np.zeros((2, 2)),
        capacity=[2.0, 2.0],
    )
    settled = settle(overlay, np.zeros(2, np.int32))
    assert settled.redirects == (Redirect(0, 0, 1, 16.0),)
    assert not settled.attachment.over


def test_who_can_use_no_broker_cannot_arrive() -> None:
    overlay = Overlay([[1.0]], [[False]], [[np.inf, np.inf]], np.zeros((2, 2)), np.full(2, np.inf))
    with pytest.raises(NoSolution, match='"u1" cannot use any broker'):
        settle(overlay, np.full(1, -1))


def test_rounds_can_be_limited_and_watched() -> None:
    overlay, told = scattered(60, 6), list[str]()
    settled = settle(
        overlay, np.zeros(60, np.int32), rounds=1, on_progress=lambda _, message: told.append(message)
    )
    assert settled.turns == len(told) == 6
    assert not settled.quiet
