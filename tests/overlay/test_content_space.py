"""The content space: every publication meets everybody who may want it, however cells are cut and united."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.model.region import EVERYTHING, NOTHING, Region, Span, Values, between, one_of, prefix
from polycast.overlay.cells import Axis, Cut
from polycast.overlay.content_space import ContentSpace, Limits, rendezvous_point
from polycast.overlay.networks import grid
from polycast.overlay.tapestry import Tapestry

AXES = (Axis("level", "number"), Axis("type"), Axis("data.at", "instant"))
INSTANTS = ("2026-01-01T00:00:00Z", "2026-06-01T12:00:00+02:00", "never")

levels = st.sampled_from((None, 0, 1, 2, 3.5, "4", "x", True, 7, 10, float("nan")))
types = st.sampled_from((None, "map.flood", "map.fire", "news", "", 4))
instants = st.sampled_from((None, *INSTANTS))
events = st.builds(
    lambda level, type_, at: {"level": level, "type": type_, "data": {"at": at}}, levels, types, instants
)
spans = st.tuples(st.integers(-1, 11), st.integers(0, 5)).map(lambda span: between(span[0], span[0] + span[1]))
texts = st.lists(st.sampled_from(("map.flood", "map.fire", "news", "4", "")), min_size=1).map(one_of)
values = st.one_of(
    spans,
    texts,
    st.sampled_from((prefix("map."), prefix(""), Values(None), Values((), absent=True))),
    st.just(Values((Span("instant", (1767225600, 0), (1780000000, 0)),))),
)
boxes = st.dictionaries(st.sampled_from(("level", "type", "data.at", "other")), values, max_size=3)
regions = st.lists(boxes, max_size=3).map(
    lambda all_axes: Region(tuple(box for axes in all_axes for box in Region.of(axes).boxes))
)
steps = st.one_of(
    st.tuples(st.just("subscribe"), st.tuples(st.integers(0, 9), regions)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 9)),
    st.tuples(st.just("publish"), events),
    st.tuples(st.just("rebalance"), st.none()),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(steps, max_size=60))
def test_no_match_is_ever_lost(history: list[tuple[str, Any]]) -> None:
    space = ContentSpace(AXES, Limits(publications=2, subscriptions=3))
    known: dict[str, Region] = {}
    handed: dict[str, set[str]] = {"": set()}
    for step, what in history:
        if step == "subscribe":
            name, region = str(what[0]), what[1]
            known[name] = region
            for cell in handed.values():
                cell.discard(name)
            for cell in space.subscribe(name, region):
                handed[cell].add(name)
        elif step == "unsubscribe":
            known.pop(str(what), None)
            space.unsubscribe(str(what))
            for cell in handed.values():
                cell.discard(str(what))
        elif step == "publish":
            cell, candidates = space.publish(what)
            assert {name for name, region in known.items() if region.contains(what)} <= candidates
            assert candidates == handed[cell]
        else:
            for change in space.rebalance():
                for cell in change.given_up:
                    del handed[cell]
                handed |= {cell: set(names) for cell, names in change.taken_over.items()}
        assert set(space.cells) == handed.keys()


@given(regions, events, levels.filter(lambda level: isinstance(level, int | float) and level == level))
def test_a_cut_keeps_every_event_on_the_side_where_it_belongs(region, event, at):
    cut = Cut(AXES[0], at)
    for box in region.boxes:
        if Region((box,)).contains(event):
            part = cut.parts(box)[cut.is_above(event)]
            assert part is not None
            assert Region((part,)).contains(event)


def busy(limits: Limits) -> ContentSpace:
    space = ContentSpace((Axis("level", "number"),), limits)
    for i in range(100):
        space.subscribe(str(i), Region.of({"level": between(i, i + 1)}))
    for i in range(100):
        space.publish({"level": i})
    return space


def test_a_busy_cell_is_cut_where_its_publications_part():
    space = busy(Limits(publications=50))
    (change,) = space.rebalance()
    assert change.given_up == ("",)
    assert space.cells == ("0", "1")
    assert (space.cell_of({"level": 49}), space.cell_of({"level": 50})) == ("0", "1")
    assert space.cell_of({}) == space.cell_of({"level": "high"}) == "0"
    assert len(change.taken_over["0"]) == 50
    assert len(change.taken_over["1"]) == 51
    assert space.cells_of(Region.of({"level": between(60, 70)})) == ("1",)


def test_cells_are_cut_until_none_is_busy_and_united_when_all_is_quiet():
    space = busy(Limits(publications=10))
    while space.rebalance():
        for i in range(100):
            space.publish({"level": i})
    assert 10 <= len(space.cells) <= 32
    while changes := space.rebalance():
        assert all(len(change.taken_over) == 1 for change in changes)
    assert space.cells == ("",)
    assert len(space.publish({"level": 5})[1]) == 100


def test_what_cannot_be_parted_stays_whole():
    space = ContentSpace((Axis("level", "number"), Axis("type")), Limits(publications=1))
    for _ in range(10):
        space.publish({"level": 3})
    assert space.rebalance() == []


def test_too_many_subscriptions_cut_a_cell_too():
    space = busy(Limits(publications=1000, subscriptions=60))
    space.rebalance()
    assert len(space.cells) == 2


def test_everything_and_nothing():
    space = busy(Limits(publications=10))
    for _ in range(3):
        space.rebalance()
    assert space.subscribe("all", EVERYTHING) == space.cells
    assert space.subscribe("all", NOTHING) == ()
    space.unsubscribe("all")
    space.unsubscribe("nobody")


def test_every_cell_has_one_owner_and_owners_are_spread():
    overlay = Tapestry.over(grid(64, 0))
    owners = {rendezvous_point(f"{i:08b}", overlay) for i in range(64)}
    assert len(owners) > 25
    assert rendezvous_point("0110", overlay) == rendezvous_point("0110", overlay)


@pytest.mark.parametrize("wrong", [{"publications": 0}, {"subscriptions": 0}, {"slack": 1.5}])
def test_limits_that_cannot_be_are_refused(wrong):
    with pytest.raises(BadInput):
        Limits(**wrong)
