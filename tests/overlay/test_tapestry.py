"""Tapestry: one root to a key from everywhere, few hops, near neighbours, whoever joins, leaves or fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.overlay.networks import power_law
from polycast.overlay.tapestry import DIGITS, Space, Tapestry, identifiers, key_of
from polycast.overlay.tapestry.identifiers import digit, shared_digits

KEYS = identifiers(f"key {i}" for i in range(20))


def on_plane(brokers: int, seed: int = 0, **options: object) -> Tapestry:
    place = np.random.default_rng(seed).random((brokers, 2))
    names = [f"{seed}/{i}" for i in range(brokers)]
    return Tapestry(names, Space(place, np.empty((0, 0))), **options)


def surrogate_root(identifier: dict[int, str], key: str) -> int:
    """The slow truth: keep those that have the next digit of the key, or the next that anybody has."""
    left = set(identifier)
    for level in range(DIGITS):
        digits = {identifier[broker][level] for broker in left}
        wanted = min(digits, key=lambda d: (int(d, 16) - int(key[level], 16)) % 16)
        left = {broker for broker in left if identifier[broker][level] == wanted}
    (root,) = left
    return root


def assert_sound(overlay: Tapestry) -> None:
    """All members agree on the root of every key, and it is the right one; every table is as full as it can be."""
    members = overlay.members
    written = {broker: f"{overlay.identifiers[broker]:016x}" for broker in members.tolist()}
    for key in KEYS:
        ends = overlay.routes(members, key).ends
        assert set(ends.tolist()) == {surrogate_root(written, f"{key:016x}")}
    for broker in members.tolist():
        for other in members.tolist():
            if broker != other:
                level = int(shared_digits(overlay.identifiers[broker], overlay.identifiers[other]))
                d = int(digit(overlay.identifiers[other], level))
                assert overlay.tables[broker, level, d, 0] >= 0
    named = overlay.tables[members]
    assert overlay.alive[named[named >= 0]].all()
    for copy in range(1, named.shape[3]):
        twice = named[..., :copy] == named[..., copy : copy + 1]
        assert not (twice & (named[..., :copy] >= 0)).any()


def test_digits_are_those_of_the_written_number():
    key = key_of("a flood map")
    assert "".join(f"{digit(key, level):x}" for level in range(DIGITS)) == f"{key:016x}"
    assert shared_digits(np.uint64(0x12345 << 44), np.uint64(0x12355 << 44)) == 3
    assert shared_digits(key, key) == DIGITS


@pytest.mark.parametrize("brokers", [1, 2, 3, 17, 200])
def test_every_route_ends_at_the_same_root(brokers):
    assert_sound(on_plane(brokers))


def test_a_broker_is_the_root_of_its_own_identifier():
    overlay = on_plane(100)
    for broker in (0, 50, 99):
        assert set(overlay.routes(overlay.members, overlay.identifiers[broker]).ends) == {broker}


def test_hops_grow_as_the_logarithm():
    means = [on_plane(n).routes(np.arange(min(n, 500)), KEYS[0]).hops.mean() for n in (16, 256, 4096)]
    assert means[0] < means[1] < means[2] < 3.6
    assert abs((means[2] - means[1]) - (means[1] - means[0])) < 0.6


def test_tables_name_the_nearest_brokers_that_fit():
    overlay = Tapestry.over(power_law(120, 1))
    for broker in range(0, 120, 7):
        for other in range(120):
            if other != broker:
                level = int(shared_digits(overlay.identifiers[broker], overlay.identifiers[other]))
                entry = overlay.tables[broker, level, int(digit(overlay.identifiers[other], level))]
                apart = overlay.space.matrix[broker]
                assert apart[entry[0]] <= apart[other]
                assert other in entry or -1 not in entry


def test_near_neighbours_make_shorter_ways():
    overlay = on_plane(1000)
    blind = Tapestry(overlay.names, Space(np.zeros((1000, 2)), np.empty((0, 0))))
    assert length(overlay, overlay.space.place) < 0.7 * length(blind, overlay.space.place)


def length(overlay: Tapestry, place: np.ndarray) -> float:
    """The mean length of all ways to a root."""
    routes = overlay.routes(overlay.members, KEYS[3])
    ways = zip(routes.path, routes.hops, strict=True)
    return float(
        np.mean([np.linalg.norm(np.diff(place[path[: hops + 1]], axis=0), axis=1).sum() for path, hops in ways])
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["join", "leave", "fail"]), st.integers(0, 39)), min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_after_any_joins_leaves_and_failures_all_agree(steps, seed):
    overlay = on_plane(40, seed, members=range(15))
    for step, broker in steps:
        if step == "join" and not overlay.alive[broker]:
            overlay.join(broker)
        elif step == "leave" and overlay.alive[broker] and overlay.alive.sum() > 1:
            overlay.leave(broker)
        elif step == "fail" and overlay.alive[broker] and overlay.alive.sum() > 1:
            overlay.fail([broker])
    overlay.repair()
    assert_sound(overlay)


def test_joining_one_by_one_ends_as_all_at_once():
    grown = on_plane(60, members=[0])
    for broker in range(1, 60):
        grown.join(broker)
    at_once = on_plane(60)
    levels = at_once.tables.shape[1]
    assert np.array_equal(grown.tables[:, :levels], at_once.tables)
    assert (grown.tables[:, levels:] == -1).all()


def test_a_leaver_is_forgotten_and_may_come_back():
    overlay = on_plane(80)
    before = overlay.tables.copy()
    assert overlay.leave(7) > 0
    assert 7 not in overlay.tables[overlay.members]
    overlay.join(7)
    assert np.array_equal(overlay.tables, before)


def test_stand_ins_carry_most_routes_past_failures_until_repair():
    rng = np.random.default_rng(2)
    found = {}
    for copies in (1, 3):
        overlay = on_plane(2000, copies=copies)
        overlay.fail(rng.choice(2000, 200, replace=False))
        ends = overlay.routes(overlay.members, KEYS[1]).ends
        counts = np.unique(ends, return_counts=True)[1]
        found[copies] = counts.max() / len(ends)
        assert overlay.alive[ends].all()
        overlay.repair()
        assert len(set(overlay.routes(overlay.members, KEYS[1]).ends.tolist())) == 1
    assert found[3] > 0.97
    assert found[3] > found[1]


def test_names_give_the_same_overlay_everywhere():
    assert f"{key_of('b1'):016x}" == "992e9a7e321efcda"
    assert np.array_equal(on_plane(50).tables, on_plane(50).tables)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Tapestry(["a", "a"], Space(np.zeros((2, 2)), np.empty((0, 0)))),
        lambda: Tapestry(["a", "b"], Space(np.zeros((3, 2)), np.empty((0, 0)))),
        lambda: on_plane(5, copies=0),
        lambda: on_plane(5).join(2),
        lambda: on_plane(5, members=[0]).fail([1]),
        lambda: on_plane(5, members=[0]).routes([1], KEYS[0]),
        lambda: on_plane(5, members=[]).root(KEYS[0]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(BadInput):
        wrong()


@pytest.mark.soak
def test_a_thousand_brokers_come_and_go_for_long():
    rng = np.random.default_rng(9)
    overlay = on_plane(1000, members=range(500))
    for step in range(5000):
        broker = int(rng.integers(1000))
        if not overlay.alive[broker]:
            overlay.join(broker)
        elif step % 2:
            overlay.leave(broker)
        else:
            overlay.fail([broker])
            overlay.repair()
        if step % 50 == 0:
            members = overlay.members
            for key in KEYS:
                assert len(set(overlay.routes(members, key).ends.tolist())) == 1
    assert_sound(overlay)
