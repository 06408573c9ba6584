"""CESQL as its specification has it: every construct, every cast, every error."""

import random
import time
from datetime import UTC, datetime, timedelta, timezone
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.interest.cesql import ParseError, Program, evaluate, parse
from polycast.interest.cesql.like import matcher
from polycast.interest.cesql.machine import Machine
from polycast.interest.cesql.values import PLAIN, SUPERSET, Failure
from tests.interest import expressions
from tests.oracles import cesql as oracle
from tests.oracles import cesql_values as oracle_values

EVENT: dict[str, Any] = {
    "id": "1", "source": "/maps", "type": "map.flood", "specversion": "1.0",
    "hop": "5", "ttl": "10", "urgent": True, "level": 3, "time": "2026-03-01T12:00:00Z",
}  # fmt: skip


def _expect(text: str, value: object, error: str | None = None) -> None:
    result = evaluate(text, EVENT)
    assert (result.value, type(result.value), result.error) == (value, type(value), error), text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17), ("+17", 17), ("-17", -17), ("007", 7), ("-2147483648", -(2**31)), ("true", True),
        ("FaLsE", False),
        ("'it\\'s'", "it's"), ('"say \\"x\\""', 'say "x"'), ("'back\\slash \"'", 'back\\slash "'), ("''", ""),
        ("4-1", 3), ("4 -1", 3), ("4 - -1", 5), ("4--1", 5), ("- 4", -4), ("--4", 4), ("-'4'", -4), ("-TRUE", -1),
        ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("20 - 5 - 5", 10), ("7 / 2", 3), ("-7 / 2", -3), ("7 / -2", -3),
        ("-7 % 3", -1), ("7 % -3", 1), ("2 * 3 % 4", 2), ("TRUE + '2'", 3), ("hop + 1", 6), ("level * 2", 6),
    ],
)  # fmt: skip
def test_literals_and_arithmetic(text: str, value: object) -> None:
    _expect(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 = '1'", True), ("'1' = 1", True), ("'01' = 1", True), ("1 = '01'", False), ("TRUE = 'TRUE'", False),
        ("'TRUE' = TRUE", True), ("TRUE = 'true'", True), ("3 = TRUE", True), ("TRUE = 3", False),
        ("'a' <> 'b'", True),
        ("'abc' = 'ABC'", False), ("hop < ttl", True), ("'9' < '10'", True), ("urgent = TRUE", True),
        ("1 < 2 = TRUE", True), ("level >= 3 AND level <= 3", True),
        ("NOT TRUE", False), ("NOT 'false'", True), ("NOT 10", False), ("NOT NOT TRUE", True),
        ("NOT TRUE = FALSE", True), ("NOT type LIKE 'x'", False),
        ("TRUE XOR TRUE", False), ("FALSE XOR TRUE", True), ("TRUE OR FALSE AND FALSE", False),
        ("FALSE AND FALSE OR TRUE", True), ("TRUE OR TRUE XOR TRUE", False), ("FALSE AND 1 / 0 = 1", False),
        ("TRUE OR 1 / 0 = 1", True), ("TRUE OR missing", True), ("FALSE AND NOPE()", False),
        ("1 AND 'true'", True),
        ("EXISTS type", True), ("EXISTS nothing", False), ("NOT EXISTS nothing", True),
        ("5 IN (1, '5')", True), ("'5' IN (1, 5)", True), ("5 NOT IN (1, 2)", True), ("hop IN (5, nothing)", True),
        ("level IN (hop, ttl, 3)", True), ("TRUE IN ('true')", True), ("'true' IN (TRUE)", True),
        ("2 IN (TRUE)", False),
    ],
)  # fmt: skip
def test_logic_comparison_and_sets(text: str, value: object) -> None:
    if text == "NOT type LIKE 'x'":  # NOT binds more tightly than LIKE
        _expect(text, False, "cast")
    else:
        _expect(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("LENGTH('zürich')", 6), ("LENGTH(TRUE)", 4), ("LENGTH(25)", 2), ("CONCAT()", ""),
        ("CONCAT('a', 1, TRUE)", "a1true"),
        ("CONCAT_WS('-', 'a')", "a"), ("CONCAT_WS('-', 1, 2, 3)", "1-2-3"), ("CONCAT_WS('-')", ""),
        ("lower('ÀB')", "àb"), ("Upper('àb')", "ÀB"), ("TRIM(' \t a b \u00a0')", "a b"),
        ("LEFT('abc', 2)", "ab"), ("LEFT('abc', '7')", "abc"), ("RIGHT('abc', 2)", "bc"), ("RIGHT('abc', 0)", ""),
        ("SUBSTRING('abcdef', 3)", "cdef"), ("SUBSTRING('abcdef', -2)", "ef"), ("SUBSTRING('abcdef', 0)", ""),
        ("SUBSTRING('abcdef', 2, 3)", "bcd"), ("SUBSTRING('abcdef', -3, 2)", "de"),
        ("SUBSTRING('abc', 2, 99)", "bc"),
        ("SUBSTRING('abc', 1, 0)", ""), ("ABS(-3)", 3), ("ABS('-3')", 3), ("INT('-12')", -12), ("INT(TRUE)", 1),
        ("BOOL(0)", False), ("BOOL('TRUE')", True), ("STRING(-5)", "-5"), ("STRING(FALSE)", "false"),
        ("STRING (1)", "1"),
    ],
)  # fmt: skip
def test_functions(text: str, value: object) -> None:
    _expect(text, value)


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("nothing", False, "missingAttribute"), ("nothing = ''", False, "missingAttribute"),
        ("nothing != ''", False, "missingAttribute"), ("nothing * 5", 0, "missingAttribute"),
        ("1 / nothing", 0, "missingAttribute"), ("NOT nothing", False, "missingAttribute"),
        ("TRUE AND nothing = 1", False, "missingAttribute"), ("nothing = 1 OR TRUE", False, "missingAttribute"),
        ("LENGTH(nothing)", 0, "missingAttribute"), ("UPPER(nothing)", "", "missingAttribute"),
        ("nothing LIKE '%'", False, "missingAttribute"), ("nothing IN (1)", False, "missingAttribute"),
        ("5 / 0", 0, "math"), ("5 % 0", 0, "math"), ("1 = 5 / 0", False, "math"), ("2147483647 + 1", 0, "math"),
        ("65536 * 65536", 0, "math"), ("-2147483648 / -1", 0, "math"), ("-(-2147483648)", 0, "math"),
        ("ABS(-2147483648)", 2147483647, "math"), ("ABS(-2147483648) = 1", False, "math"),
        ("'a' + 1", 0, "cast"), ("'a' = 1", False, "cast"), ("'a' != 1", False, "cast"),
        ("type < 'b'", False, "cast"),
        ("NOT 'maybe'", False, "cast"), ("INT('ABC')", 0, "cast"), ("INT('2147483648')", 0, "cast"),
        ("BOOL('yes')", False, "cast"), ("5 IN ('a', 5)", False, "cast"), ("INT('1.5')", 0, "cast"),
        ("INT(' 1')", 0, "cast"),
        ("LEFT('abc', -2)", "abc", "functionEvaluation"), ("RIGHT('abc', -2)", "abc", "functionEvaluation"),
        ("LENGTH(LEFT('abc', -2))", 0, "functionEvaluation"),
        ("LEFT(LEFT('abc', -2), 1)", "", "functionEvaluation"),
        ("SUBSTRING('abc', 4)", "", "functionEvaluation"), ("SUBSTRING('abc', -4)", "", "functionEvaluation"),
        ("SUBSTRING('abc', 1, -1)", "", "functionEvaluation"),
        ("NOPE(1)", False, "missingFunction"), ("CONCAT_WS()", False, "missingFunction"),
        ("NOPE(nothing)", False, "missingFunction"), ("NOPE(1 / 0) + 1", 0, "missingFunction"),
        ("nothing = 1 AND NOPE()", False, "missingAttribute"),
        ("ABS(1, 2)", False, "missingFunction"),
    ],
)  # fmt: skip
def test_errors_come_with_a_value(text: str, value: object, error: str) -> None:
    _expect(text, value, error)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1), ("   ", 4), ("1 +", 4), ("(1", 3), ("1)", 2), ("a b", 3), ("a AND", 6), ("'open", 1),
        ("Data.x = 1", 5), ("a_B", 1),
        ("a LIKE b", 8), ("a IN 5", 6), ("a IN ()", 7), ("EXISTS 'a'", 8), ("a # b", 3), ("f(1,)", 5),
        ("f(,1)", 3),
        ("2147483648", 1), ("-2147483649", 2), ("1.5", 2), ("data.x = 1", 5), ("f1(2)", 1), ("a_b", 1),
        ("a, b", 2),
        ("(a, b)", 3), ("a NOT b", 7), ("++1", 1), ("+a", 1), ("'it''s'", 5), ("a ; b", 3), ("LIKE", 1),
        ("NOT", 4),
        ("AND(1)", 1),
    ],
)  # fmt: skip
def test_what_is_no_expression(text: str, column: int) -> None:
    assert evaluate(text, EVENT) == (False, "parse")
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.column == column
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5 + 1", 2.5), ("5 / 2", 2), ("5 / 2.0", 2.5), ("'2.5' = 2.5", True), ("'2.50' = 2.5", True),
        ("hop < 5.5", True),
        ("3000000000 + 1", 3000000001), ("2147483647 + 1", 2147483648), ("'3000000000' > 5", True),
        ("5.5 % 2", 1.5),
        ("type > 'map'", True), ("type < 'map'", False), ("'9' < '10'", True), ("'9' < 'a'", True),
        ("time > '2026-03-01T12:30:00+01:00'", True), ("time <= '2026-03-01T12:00:00.000Z'", True),
        ("data.location.lat > 33.5", True), ("data.tags.1 = 'b'", True), ("EXISTS data.location", True),
        ("EXISTS data.nothing", False), ("data.on", True), ("NOT data.zero", True), ("ABS(-2.5)", 2.5),
        ("-2147483648 - 1", -2147483649),
        ("INT('2.9')", 2), ("STRING(2.5)", "2.5"), ("1.5 IN ('1.5')", True), ("9999999999999999999 > 1", True),
    ],
)  # fmt: skip
def test_the_superset(text: str, value: object) -> None:
    payload = {"location": {"lat": 34.1}, "tags": ["a", "b"], "on": True, "zero": 0, "empty": None}
    result = evaluate(text, {**EVENT, "data": payload}, strict=False)
    assert (result.value, type(result.value), result.error) == (value, type(value), None), text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("data.nothing = 1", "missingAttribute"), ("data.location = 1", "missingAttribute"),
        ("data.empty", "missingAttribute"),
        ("type < 5", "cast"), ("9223372036854775807 + 1", "math"), ("1.5 / 0", "math"), ("1.5.5", "parse"),
        ("other.x", "parse"),
    ],
)  # fmt: skip
def test_errors_of_the_superset(text: str, error: str) -> None:
    payload = {"location": {"lat": 34.1}, "empty": None}
    assert evaluate(text, {**EVENT, "data": payload}, strict=False).error == error


@pytest.mark.parametrize("seed", range(20))
def test_reads_what_the_grammar_says(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        strict = rng.random() < 0.5
        text = expressions.expression(rng, rng.randrange(5), rng.random() < 0.7)
        if rng.random() < 0.4:  # and what is nearly an expression
            place = rng.randrange(len(text) + 1)
            text = (
                text[:place]
                + rng.choice(("", " ", "'", ")", "(", "-", "+1", ".5", "NOT ", ",", "a"))
                + text[place + 1 :]
            )
        expected = oracle.parse_by_grammar(text, strict)
        try:
            steps: list[Any] | None = list(parse(text, strict).steps)
        except ParseError:
            steps = None
        assert repr(steps) == repr(expected), text


def test_parsed_expressions_are_told_apart_though_python_calls_them_equal() -> None:
    for _ in range(3):
        expressions_ = [parse(text) for text in ("1", "TRUE", "1 = 1", "TRUE = TRUE")]
        assert [evaluate(one, {}).value for one in expressions_ * 2] == [1, True, True, True] * 2
        assert [type(evaluate(one, {}).value) for one in expressions_[:2]] == [int, bool]
    assert sum(evaluate(parse(f"{number} + 1"), {}).value for number in range(5000)) == 5000 * 5001 // 2


@pytest.mark.parametrize("seed", range(20))
def test_gives_what_the_specification_says(seed: int) -> None:
    rng = random.Random(seed)
    errors = set()
    for _ in range(150):
        text = expressions.expression(rng, rng.randrange(5), True)
        attributes = expressions.attributes(rng)
        attributes = {name: value for name, value in attributes.items() if not isinstance(value, float | dict)}
        value, error = oracle_values.evaluate(text, attributes)
        result = evaluate(text, attributes)
        assert (result.value, type(result.value), result.error) == (value, type(value), error), (text, attributes)
        errors.add(error)
    assert errors >= {None, "cast", "missingAttribute"}


@pytest.mark.parametrize("seed", range(20))
def test_closures_and_machine_agree_and_the_superset_only_adds(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        text = expressions.expression(rng, rng.randrange(5), True)
        attributes = expressions.attributes(rng)
        attributes = {name: value for name, value in attributes.items() if not isinstance(value, float | dict)}
        results = {}
        for strict, dialect in ((True, PLAIN), (False, SUPERSET)):
            parsed = parse(text, strict)
            results[strict] = Program(parsed).evaluate(attributes)
            assert results[strict] == _by_machine(Machine(parsed, dialect), attributes, Program(parsed))
        if results[True].error is None:
            assert results[False] == results[True], text


def _by_machine(machine: Machine, attributes: dict[str, Any], program: Program) -> Any:
    program.compute = machine.run
    return program.evaluate(attributes)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_gives_an_answer(text: str) -> None:
    for strict in (True, False):
        evaluate(text, EVENT, strict=strict)


@given(st.text("ab%_\\c", max_size=8), st.text("abc%_\\", max_size=8))
@settings(max_examples=500)
def test_like_matches_as_the_table_does(text: str, pattern: str) -> None:
    assert matcher(pattern)(text) == oracle.like(text, pattern)


def test_like_by_masks_finds_the_leftmost() -> None:
    rng = random.Random(1)
    for _ in range(30):
        text = "".join(rng.choice("ab") for _ in range(rng.randrange(3000)))
        pattern = "%" + "".join(rng.choice("ab_") for _ in range(rng.randrange(3, 60))) + "%a_b%"
        text += pattern[1:-5].replace("_", "a") + text
        assert matcher(pattern)(text) == oracle.like(text, pattern)


@pytest.mark.parametrize(
    "text",
    [
        "NOT " * 10_000 + "TRUE", "(" * 10_000 + "TRUE" + ")" * 10_000, "1+(" * 10_000 + "1" + ")" * 10_000,
        "TRUE AND (" * 10_000 + "TRUE" + ")" * 10_000, "- " * 10_000 + "1", "TRUE OR " * 10_000 + "FALSE",
        "ABS(" * 10_000 + "-1" + ")" * 10_000, "1 IN (1, " * 10_000 + "1" + ")" * 10_000,
        "1 = (" * 10_000 + "1" + ")" * 10_000,
    ],
)  # fmt: skip
def test_deep_nesting(text: str) -> None:
    assert evaluate(text, {}).error is None
    assert evaluate(text[:-1], {}).error in ("parse", "missingAttribute", None)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1_000_000, "'" + "\\'" * 500_000, "a" * 1_000_000, "9" * 1_000_000, "- " * 500_000,
        "'" + "x" * 1_000_000 + "' = 'y'",
        "0" * 1_000_000 + "7", "a." * 500_000, "f(" * 300_000,
    ],
)  # fmt: skip
def test_a_megabyte_of_text(text: str) -> None:
    start = time.monotonic()
    evaluate(text, {})
    evaluate(text, {}, strict=False)
    assert time.monotonic() - start < 30  # a hang, not a benchmark


@pytest.mark.parametrize(
    "pattern",
    [
        "%a" * 50_000 + "b",
        "%" + "a_" * 500 + "b%",
        "_" * 100_000,
        "%_" * 50_000,
        "%" + "a" * 10_000 + "b%",
        "a%" * 9,
        "%a_" * 100_000 + "%",
        "%" + "a_" * 2_000 + "%b%",
        "%a_a%" + "%" + "a_" * 2_000 + "b%",
        "%" + "a" * 4_000 + "_b%",
    ],
)
def test_patterns_built_to_explode(pattern: str) -> None:
    start = time.monotonic()
    matcher.__wrapped__(pattern)("a" * 1_000_000)
    assert time.monotonic() - start < 30


def test_gaps_that_are_too_long_are_refused() -> None:
    assert parse("a LIKE '" + "a_" * 5_000 + "%'")
    assert parse("a LIKE '%" + "a" * 50_000 + "%'")
    with pytest.raises(ParseError, match="column 8: a pattern with `_` and more than 4096"):
        parse("a LIKE '%" + "a_" * 5_000 + "%'")


@pytest.mark.parametrize(
    "text",
    ["LENGTH(" + "CONCAT(" * 3_000 + "a" + ", a)" * 3_000 + ")", "LENGTH(" + "UPPER(" * 9_000 + "a" + ")" * 9_001],
)
def test_functions_in_functions_make_only_so_much(text: str) -> None:
    start = time.monotonic()
    assert evaluate(text, {"a": "x"}).error is None
    assert evaluate(text, {"a": "x" * 50_000}) == (0, "functionEvaluation")
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    "value", ["1" * 1_000_000, "0" * 1_000_000 + "1", "-" * 1_000_000, "1." + "1" * 1_000_000, "\ud800", "\x00"]
)
def test_attributes_of_a_megabyte(value: str) -> None:
    for text in ("a + 1", "a < 'b'", "a = 1", "a LIKE '%1%'", "CONCAT(a, a) = a", "NOT a", "UPPER(a)"):
        evaluate(text, {"a": value}, strict=False)
        evaluate(text, {"a": value})


class _Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("a = 'AP8='", b"\x00\xff", True), ("LENGTH(a)", b"", 0), ("EXISTS a", b"", True),
        ("a", datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T12:00:00Z"),
        ("a LIKE '%T12:00:00+01:00'", datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=1))), True),
        ("a", _Text("x"), "x"), ("'5' = a", _Text("5"), True), ("5 + a", HTTPStatus.OK, 205),
        ("'200' = a", HTTPStatus.OK, True), ("a = '2147483648'", 2**31, True), ("'x' = a", 2.5, False),
    ],
)  # fmt: skip
def test_attributes_of_other_types_count_by_their_text(text: str, attribute: object, value: object) -> None:
    result = evaluate(text, {"a": attribute})
    assert (result, type(result.value)) == ((value, None), type(value))


@pytest.mark.parametrize("expression", [None, 5, b"a = 1", ["a"], object()])
def test_what_is_no_text_is_no_expression(expression: Any) -> None:
    assert evaluate(expression, {}) == (False, "parse")
    assert evaluate(expression, {}, strict=False) == (False, "parse")


def test_programs_do_not_raise_on_strange_attributes() -> None:
    for strange in (None, [], {}, float("nan"), float("inf"), 10**400, b"bytes", object()):
        for strict in (True, False):
            try:
                evaluate("a = 1 OR a < 'b' OR a LIKE '%' OR a + 1 = 2", {"a": strange}, strict=strict)
            except Failure:
                pytest.fail("a failure got out")
