"""Whatever is written as an expression: an answer, or a fault with its column; all readers and machines agree."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.interest.cesql import Expression, ParseError, Program, parse
from polycast.interest.cesql.machine import Machine
from polycast.interest.cesql.values import PLAIN, SUPERSET
from polycast.interest.dialects import subscription_expression
from polycast.interest.region import region
from polycast.model.subscription import read_subscription
from tests.interest import expressions
from tests.oracles import cesql as oracle

TOKENS = (
    "AND", "or", "Xor", "NOT", "LIKE", "IN", "EXISTS", "TRUE", "false", "(", ")", ",", "=", "!=", "<>", "<", ">=",
    "+", "-", "*", "/", "%", "1", "+2", "-3", "007", "2147483648", "9999999999999999999", "1.5", ".5", "1.", "a",
    "b2", "2b", "data", "data.x", "data.x.0", "data.", "Type", "a_b", "''", "'a'", '"b%"', "'it\\'s'", "'\\\\",
    "'", "LEFT", "ABS(", "concat", "NOPE(", "#", "é", "\x00", "\n", "\ud800",
)  # fmt: skip

EVENT: dict[str, Any] = {"a": "5", "b2": True, "2b": -3, "data": {"x": [1.5, "y"]}}

soup = st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(("", " ", "\t"))), max_size=14).map(
    lambda tokens: "".join(token + blank for token, blank in tokens)
)


def _parsed(text: str, strict: bool) -> Expression | ParseError:
    try:
        return parse(text, strict)
    except ParseError as fault:
        return fault


def _check(text: str) -> None:
    for strict, dialect in ((True, PLAIN), (False, SUPERSET)):
        expected = oracle.parse_by_grammar(text, strict)
        parsed = _parsed(text, strict)
        if isinstance(parsed, ParseError):
            assert expected is None, text
            assert 1 <= parsed.column <= len(text) + 1
            assert "\n" not in str(parsed)
            continue
        assert repr(list(parsed.steps)) == repr(expected), text
        program, slow = Program(parsed), Program(parsed)
        slow.compute = Machine(parsed, dialect).run
        assert program.evaluate(EVENT) == slow.evaluate(EVENT), text
        assert region(parsed).contains(EVENT) or not program.accepts(EVENT), text


@given(soup)
@settings(max_examples=400, deadline=None)
def test_any_tokens_in_any_order(text: str) -> None:
    _check(text)


@pytest.mark.soak
@given(soup)
@settings(max_examples=50_000, deadline=None)
def test_any_tokens_in_any_order_for_long(text: str) -> None:
    _check(text)


@pytest.mark.soak
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("utf-8", "surrogateescape")))
@settings(max_examples=50_000, deadline=None)
def test_any_text_for_long(text: str) -> None:
    for strict in (True, False):
        parsed = _parsed(text, strict)
        if isinstance(parsed, ParseError):
            assert 1 <= parsed.column <= len(text) + 1
        else:
            Program(parsed).evaluate(EVENT)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_the_superset_only_adds_for_long(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50_000):
        text = expressions.expression(rng, rng.randrange(6), True)
        attributes = expressions.attributes(rng)
        attributes = {name: value for name, value in attributes.items() if not isinstance(value, float | dict)}
        plain = Program(parse(text)).evaluate(attributes)
        wider = parse(text, strict=False)
        assert plain.error is not None or Program(wider).evaluate(attributes) == plain, text
        assert region(wider).contains(attributes) or not Program(wider).accepts(attributes), text


@given(st.text("abs-'\"()%é ", min_size=1, max_size=12), soup)
@settings(max_examples=200, deadline=None)
def test_a_fault_names_the_subscription_and_the_column(name: str, text: str) -> None:
    document = {"id": name, "filters": [{"prefix": {"type": "x"}}, {"not": {"all": [{"sql": text}]}}]}
    subscription = read_subscription(document, "line 1")
    expected = _parsed(text, strict=False)
    if isinstance(expected, Expression):
        subscription_expression(subscription)
        return
    with pytest.raises(BadInput) as caught:
        subscription_expression(subscription)
    assert caught.value.where == f'subscription "{name}", sql, column {expected.column}'
    assert caught.value.why == expected.why
