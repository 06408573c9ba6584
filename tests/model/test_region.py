"""Regions are safe: what lies in the parts lies in what is made of them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polycast.model.region import (
    ABSENT,
    EVERYTHING,
    MOST_BOXES,
    NOTHING,
    PRESENT,
    Region,
    Span,
    Values,
    between,
    one_of,
    prefix,
)

TEXTS = ("", "a", "ab", "abc", "b", "5", "05", "-3", "10", "2.5", "true", "2026-01-01T00:00:00Z",
         "2026-01-01T02:00:00+02:00", "\U0010ffff", "\ud7ff", "\ue000")  # fmt: skip
NUMBERS = (-3, 0, 1, 2, 2.5, 5, 10, 2**40)

values = st.sampled_from((*TEXTS, *NUMBERS, True, False, None, {"a": 1}, float("nan")))
numbers = st.none() | st.sampled_from(NUMBERS)
axes = st.one_of(
    st.builds(between, numbers, numbers).filter(lambda axis: _is_ordered(axis)),
    st.builds(one_of, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3)),
    st.builds(prefix, st.sampled_from(TEXTS)),
    st.just(Values((Span("instant", (0, 0), (1767225600, 0)),))),
    st.sampled_from((PRESENT, ABSENT)),
)
names = st.sampled_from(("a", "b", "data.x"))
regions = st.lists(st.dictionaries(names, axes, max_size=3).map(Region.of), max_size=4).map(
    lambda parts: _union(parts)
)
events = st.fixed_dictionaries({"a": values, "b": values, "data": st.fixed_dictionaries({"x": values})})


def _is_ordered(axis: Values) -> bool:
    low, high = axis.spans[0].low, axis.spans[0].high  # type: ignore[index]
    return low is None or high is None or low <= high  # type: ignore[operator]


def _union(parts: list[Region]) -> Region:
    found = NOTHING
    for part in parts:
        found = found.union(part)
    return found


@given(regions, regions, events)
def test_unions_and_intersections_are_safe(region: Region, other: Region, event: dict[str, Any]) -> None:
    here, there = region.contains(event), other.contains(event)
    if here or there:
        assert region.union(other).contains(event)
    if here and there:
        assert region.intersects(other)
        assert region.intersection(other).contains(event)
    assert bool(region.intersection(other).boxes) <= region.intersects(other)
    if here:
        assert region.hull("a").contains(event["a"])


@given(regions)
def test_a_region_travels_as_json(region: Region) -> None:
    try:
        written = msgspec.json.encode(region)
    except UnicodeEncodeError:  # a lone surrogate, which no event holds
        return
    assert msgspec.json.decode(written, type=Region) == region


@pytest.mark.parametrize(
    ("axis", "inside", "outside"),
    [
        (between(3, 5), (3, "4.5", "005", 5.0), (2, "6", "three", None, True)),
        (between(None, 5), (-(2**70), "-7"), (6,)),
        (one_of(["5", "a"]), (5, "5", "a"), ("05", 5.0, "A")),
        (prefix("map."), ("map.", "map.flood", "map.\U0010ffff"), ("map", "maq", "Map.")),
        (prefix(""), ("", 5, True), (None,)),
        (PRESENT, ({"x": 1}, "", 0), (None,)),
        (ABSENT, (None,), ("",)),
    ],
)
def test_what_an_axis_holds(axis: Values, inside: tuple[Any, ...], outside: tuple[Any, ...]) -> None:
    region = Region.of({"x": axis})
    assert [value for value in inside if not region.contains({"x": value})] == []
    assert [value for value in outside if region.contains({"x": value})] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (between(0, 2), between(3, 4)),
        (one_of(["a", "c"]), one_of(["b", "d"])),
        (prefix("map."), prefix("text.")),
        (one_of(["7"]), between(8, 9)),
        (PRESENT, ABSENT),
        (Values((Span("instant", (0, 0), None),)), between(0, 1)),
    ],
)
def test_what_does_not_meet(one: Values, other: Values) -> None:
    assert not Region.of({"x": one}).intersects(Region.of({"x": other}))
    assert not Region.of({"x": one}).intersection(Region.of({"x": other})).boxes


def test_what_is_joined_without_loss() -> None:
    region = _union([Region.of({"x": one_of([str(number)]), "y": PRESENT}) for number in range(30)])
    assert len(region.boxes) == 1
    assert not region.contains({"x": "7.0", "y": 1})
    assert region.union(EVERYTHING) == EVERYTHING
    assert region.intersection(EVERYTHING) == region
    assert region.intersection(NOTHING) == NOTHING


def test_a_region_grows_rather_than_becoming_complicated() -> None:
    parts = [Region.of({f"x{number}": between(number, number), "y": one_of("ab")}) for number in range(100)]
    region = _union(parts)
    assert len(region.boxes) <= MOST_BOXES
    assert all(region.contains({f"x{number}": number, "y": "a"}) for number in range(100))
    assert not region.contains({"x1": 1, "y": "c"})


def test_a_boolean_is_a_number_and_a_word() -> None:
    word, number = Region.of({"x": one_of(["true"])}), Region.of({"x": between(1, 1)})
    assert word.intersection(number).contains({"x": True})
    assert not word.intersects(Region.of({"x": between(2, 9)}))
    assert Region.of({"x": prefix("t")}).intersects(number)
    assert not Region.of({"x": prefix("map.")}).intersects(number)
