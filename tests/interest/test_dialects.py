import random

import pytest

from polycast.errors import BadInput
from polycast.interest.cesql import Program
from polycast.interest.cesql.machine import Machine
from polycast.interest.cesql.values import SUPERSET
from polycast.interest.dialects import accepts, expression
from polycast.model.subscription import AllOf, AnyOf, Exact, Filter, Not, read_filters, read_subscription
from tests.interest import expressions

ATTRIBUTES = {"type": "map.flood", "region": "ca", "level": 3, "urgent": True}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"exact": {"type": "map.flood", "level": "3", "urgent": "true"}}, True),
        ({"exact": {"type": "map.fire"}}, False),
        ({"exact": {"missing": "x"}}, False),
        ({"not": {"exact": {"missing": "x"}}}, True),
        ({"prefix": {"type": "map."}}, True),
        ({"suffix": {"type": "flood", "region": "x"}}, False),
        (
            {
                "all": [
                    {"prefix": {"type": "m"}},
                    {"any": [{"exact": {"region": "us"}}, {"suffix": {"region": "a"}}]},
                ]
            },
            True,
        ),
    ],
)
def test_dialects(document: dict[str, object], expected: bool) -> None:
    filters = read_filters([document], "filters")
    assert accepts(filters, ATTRIBUTES) == expected


def test_order_is_kept() -> None:
    documents = [
        {"any": [{"exact": {"a": "1"}}, {"not": {"all": [{"exact": {"b": "2"}}, {"exact": {"c": "3"}}]}}]},
        {"exact": {"d": "4"}},
    ]
    inner = AllOf((Exact({"b": "2"}), Exact({"c": "3"})))
    assert read_filters(documents, "") == (AnyOf((Exact({"a": "1"}), Not(inner))), Exact({"d": "4"}))


def test_deep_nesting() -> None:
    document: dict[str, object] = {"exact": {"a": "b"}}
    for _ in range(10_000):
        document = {"not": document}
    filter: Filter = read_filters([document], "")[0]
    assert filter is not None


@pytest.mark.parametrize("dialect", ["any", "all"])
def test_a_failure_deep_within_filters_stays_where_it_is(dialect: str) -> None:
    first = {"exact": {"type": "map.fire" if dialect == "any" else "map.flood"}}
    document: dict[str, object] = {dialect: [first, {"sql": "7 + missing = 1"}, {"exact": {"region": "ca"}}]}
    for _ in range(40):
        document = {"not": {"not": document}}
    assert accepts(read_filters([document], ""), ATTRIBUTES) == (dialect == "any")


@pytest.mark.parametrize("seed", range(10))
def test_filters_mean_the_same_at_any_depth(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        parsed = expression(read_filters([expressions.filters(rng, 4)], ""))
        program, machine = Program(parsed), Machine(parsed, SUPERSET)
        for _ in range(4):
            attributes = expressions.attributes(rng)
            assert machine.run(attributes) is program.compute(attributes), parsed


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "an object"),
        ({"filters": []}, "needs an `id`"),
        ({"id": "s", "other": 1}, "unknown key `other`"),
        ({"id": "s", "filters": {"exact": {}}}, "array"),
        ({"id": "s", "filters": [{"exact": {}}]}, r"filters\[0\].exact"),
        (
            {"id": "s", "filters": [{"all": [{"near": 1}]}]},
            r"filters\[0\].all\[0\]: unknown filter dialect `near`",
        ),
        ({"id": "s", "filters": [{"any": []}]}, "one filter or more"),
        ({"id": "s", "filters": [{"exact": {"": "x"}}]}, r"filters\[0\].exact: '' is not an attribute's name"),
        ({"id": "s", "filters": [{"not": {"prefix": {"Type": "x"}}}]}, r"not.prefix: 'Type' is not an attribute"),
        ({"id": "s", "filters": [{"suffix": {"data": "x"}}]}, "'data' is not an attribute's name"),
        ({"id": "s", "profile": {"max_width": 0}}, "profile.max_width"),
        ({"id": "s", "profile": {"accept": "image"}}, "profile.accept"),
        ({"id": "s", "profile": {"wide": 1}}, "wide"),
    ],
)
def test_faults_name_the_place(document: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_subscription(document, "line 1")
