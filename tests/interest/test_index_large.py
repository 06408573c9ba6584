"""Many subscriptions of few kinds, so that clusters, bitmaps and eager readings of all sorts come into play."""

import random
from typing import Any

import pytest

from polycast.interest.cesql import Expression, Program, parse
from polycast.interest.index import MatchIndex
from tests.interest import expressions

KINDS = ("north", "south", "east", "west", "zé", "𝒳", "", "5", "true")
EDGES = (2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 10**30)
TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T02:00:00.5+02:00", "2025-12-31T23:59:60Z", "2026-01-01", "10", "9")


def _atom(rng: random.Random) -> str:
    sign = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    return rng.choice(
        (
            f"kind = '{rng.choice(KINDS)}'",
            f"place LIKE '{rng.choice(KINDS)}%'",
            f"place LIKE '%{rng.choice(KINDS)}'",
            f"place NOT LIKE '{rng.choice(KINDS)}%{rng.choice(KINDS)}%'",
            f"level {sign} {rng.randrange(-5, 200)}",
            f"level {sign} {rng.choice(EDGES)}",
            f"level >= {rng.random() * 50} AND level < {50 + rng.random() * 50}",
            f"time {sign} '{rng.choice(TIMES)}'",
            f"kind IN ('{rng.choice(KINDS)}', {rng.randrange(9)}, '{rng.choice(KINDS)}')",
            f"kind NOT IN ('{rng.choice(KINDS)}')",
            f"LENGTH(place) {sign} {rng.randrange(9)}",
            f"UPPER(kind) = '{rng.choice(KINDS).upper()}'",
            f"level * 2 > {rng.randrange(300)}",
            f"data.deep.n {sign} {rng.randrange(9)}",
            f"{rng.randrange(9)} {sign} level",
            "EXISTS time",
            "flag",
            f"LEFT(place, {rng.randrange(-1, 40)}) = '{rng.choice(KINDS)}'",
        )
    )


def _wish(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return _atom(rng)
    parts = [_wish(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
    joined = rng.choice((" AND ", " AND ", " OR ", " XOR ")).join(parts)
    return rng.choice(("{}", "{}", "({})", "NOT ({})")).format(joined)


def _event(rng: random.Random) -> dict[str, Any]:
    event: dict[str, Any] = {
        "kind": rng.choice((*KINDS, 5, 0, True, 2.5)),
        "place": rng.choice(KINDS) + rng.choice(KINDS),
        "level": rng.choice((rng.randrange(-5, 200), rng.random() * 100, str(rng.randrange(100)), "low", *EDGES)),
        "time": rng.choice((*TIMES, 7, False)),
        "flag": rng.choice((True, False, "TRUE", "no", 0)),
        "data": rng.choice((None, {"deep": {"n": rng.randrange(9)}}, {"deep": [1]})),
    }
    return {name: value for name, value in event.items() if rng.random() < 0.9}


def _check(rng: random.Random, wishes: dict[str, Expression], events: int) -> None:
    index = MatchIndex.of(wishes.items())
    programs = {name: Program(wish) for name, wish in wishes.items()}
    for _ in range(events):
        event = _event(rng)
        assert index.match(event) == [name for name, program in programs.items() if program.accepts(event)], event


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_large_clusters_answer_what_the_evaluator_answers(depth: int) -> None:
    rng = random.Random(depth)
    wishes = {str(i): parse(_wish(rng, depth), strict=False) for i in range(3_000)}
    _check(rng, wishes, 12)


def test_conjunctions_of_equalities_ranges_and_prefixes() -> None:
    rng = random.Random(9)
    wishes = {}
    for i in range(4_000):
        asked = [f"kind = '{rng.choice(KINDS)}'", f"level >= {rng.random() * 99}", f"level < {rng.random() * 150}",
                 f"place LIKE '{rng.choice(KINDS)}%'", f"time > '{rng.choice(TIMES)}'"]  # fmt: skip
        wishes[str(i)] = parse(" AND ".join(rng.sample(asked, rng.randrange(1, 5))), strict=False)
    _check(rng, wishes, 25)


def test_names_of_any_characters_come_back() -> None:
    names = ["", "a\0b", "zé𝒳", "\ud800", "x" * 3_000, "a", "a\0", "1234567", "12345678"]
    index = MatchIndex.of((name, parse("TRUE")) for name in names)
    assert index.match({}) == names
    assert all(name in index for name in names)
    assert "b" not in index


def test_an_expression_of_any_depth_and_length_is_indexed_or_asked() -> None:
    deep = "(" * 3_000 + "a = 'x'" + " AND b = 1)" * 3_000
    chain = " OR ".join(f"a = 'y{i}'" for i in range(5_000))
    nested = "NOT (" * 6_000 + "a = 'x'" + ")" * 6_000
    wishes = {
        name: parse(text, strict=False) for name, text in (("deep", deep), ("chain", chain), ("nested", nested))
    }
    index = MatchIndex.of(wishes.items())
    for event in ({"a": "x", "b": 1}, {"a": "y77"}, {"a": "x"}, {}):
        assert index.match(event) == [name for name, wish in wishes.items() if Program(wish).accepts(event)]


@pytest.mark.parametrize("depth", [62, 63, 64, 65, 200])
def test_what_is_asked_far_above_the_rarest_atom_counts(depth: int) -> None:
    """Many equal ones, so that bitmaps decide."""
    wishes = {}
    for i in range(400):
        inner = f"place = '{i % 4}'"
        for _ in range(depth):
            inner = f"flag AND ({inner})" if i % 2 else f"kind = '5' AND ({inner})"
        wishes[str(i)] = parse(f"level = {i % 3} AND ({inner})", strict=False)
    index = MatchIndex.of(wishes.items())
    for level in range(4):
        event = {"level": level, "kind": "5", "flag": True, "place": "2"}
        assert index.match(event) == [str(i) for i in range(400) if i % 4 == 2 and i % 3 == level]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_the_index_and_the_evaluator_for_long(seed: int) -> None:
    """About five million pairs."""
    rng = random.Random(seed)
    for depth in range(4):
        wishes = {f"w{i}": parse(_wish(rng, depth), strict=False) for i in range(1_000)}
        wishes |= {f"x{i}": parse(expressions.expression(rng, depth, False), strict=False) for i in range(300)}
        wishes |= {f"y{i}": parse(expressions.expression(rng, depth, True), strict=True) for i in range(100)}
        _check(rng, wishes, 50)
