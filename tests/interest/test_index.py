"""The match index answers what the evaluator answers, whatever is added, removed, saved and opened."""

import random
from pathlib import Path

import pytest

from polycast.errors import BadInput
from polycast.interest.cesql import Expression, Program, parse
from polycast.interest.dialects import expression
from polycast.interest.index import MatchIndex
from polycast.model.subscription import read_filters
from tests.interest import expressions


def _wishes(rng: random.Random, count: int) -> dict[str, Expression]:
    """Subscriptions of every kind that ``expressions`` knows, in both forms."""
    found = {}
    for number in range(count):
        if rng.random() < 0.5:
            found[f"s{number}"] = parse(expressions.expression(rng, rng.randrange(5), False), strict=False)
        else:
            filters = read_filters([expressions.filters(rng, 3) for _ in range(rng.randrange(3))], "")
            found[f"s{number}"] = expression(filters)
    return found


def _truth(wishes: dict[str, Expression], attributes: dict[str, object]) -> list[str]:
    return [name for name, wish in wishes.items() if Program(wish).accepts(attributes)]


@pytest.mark.parametrize("seed", range(4))
def test_it_answers_what_the_evaluator_answers(seed: int) -> None:
    rng = random.Random(seed)
    wishes = _wishes(rng, 300)
    index = MatchIndex.of(wishes.items())
    assert len(index) == 300
    for _ in range(20):
        attributes = expressions.attributes(rng)
        assert index.match(attributes) == _truth(wishes, attributes)


@pytest.mark.parametrize("seed", range(4))
def test_subscriptions_come_and_go_and_the_index_is_saved_between(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    wishes = _wishes(rng, 100)
    coming = list(_wishes(random.Random(seed + 1_000), 200).items())
    index = MatchIndex.of(wishes.items())
    for turn in range(200):
        chance = rng.random()
        if chance < 0.6:
            name, wish = coming[turn]
            wishes[f"new {name}"] = wish
            index.add(f"new {name}", wish)
        elif chance < 0.9:
            name = rng.choice(list(wishes))
            del wishes[name]
            index.remove(name)
        elif chance < 0.92:
            index.save(tmp_path / str(turn))
            index = MatchIndex.open(tmp_path / str(turn))
        else:
            attributes = expressions.attributes(rng)
            assert index.match(attributes) == _truth(wishes, attributes)
    assert len(index) == len(wishes)


def test_names_are_unique() -> None:
    index = MatchIndex.of([("a", parse("TRUE"))])
    with pytest.raises(BadInput, match='subscription "a": there is one'):
        index.add("a", parse("FALSE"))
    with pytest.raises(BadInput, match='subscription "b": there is none'):
        index.remove("b")
    index.remove("a")
    index.add("a", parse("TRUE", strict=False))
    assert index.match({}) == ["a"]
