"""A compiled filter accepts what the evaluator accepts: on random expressions and events, in a real Spark."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from polycast.interest.cesql import Program, parse
from polycast.interest.dialects import expression
from polycast.model.subscription import read_filters
from polycast.pipeline.columns import Inexpressible
from polycast.pipeline.filters import MOST_STEPS, column
from tests.interest import expressions

TEXTS = (
    *expressions.TEXTS, "+5", " 5", "05", "1e3", "1e999", "-0.0", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "9007199254740993", "9007199254740993.0", "0" * 30 + "7", "1" * 450, "0" * 450 + "7",
    "2026-01-01T00:00:00.5Z", "2026-01-01t00:00:60+23:59", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+12:00", "2026-01-01T24:00:00Z", "True", "\u2003a\u3000", "a\nb", "😀b", "aXbXc",
)  # fmt: skip
WHOLES = (-3, 0, 1, 5, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
REALS = (2.5, 5.0, -0.0, 1e300, 9007199254740994.0, 9.223372036854775807e18, float("nan"), float("inf"))

SCHEMA = (
    "a string, b string, c string, hop bigint, x9 double, flag boolean, "
    "data struct<n: double, s: string, list: array<bigint>, deep: map<string, string>>"
)


def _event(rng: random.Random) -> dict[str, Any]:
    def some(values: tuple[Any, ...]) -> Any:
        return rng.choice(values) if rng.random() < 0.85 else None

    data = {
        "n": some(REALS),
        "s": some(TEXTS),
        "list": some(([], [1], [1, 5, None])),
        "deep": some(({}, {"er": "b"}, {"er": "7"})),
    }
    return {
        **{name: some(TEXTS) for name in "abc"},
        "hop": some(WHOLES),
        "x9": some(REALS),
        "flag": some((True, False)),
        "data": data if rng.random() < 0.8 else None,
    }


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    rng = random.Random(5)
    return [_event(rng) for _ in range(300)]


@pytest.fixture(scope="module", autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Hundreds of columns that are used once are not worth compiling."""
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield
    spark.conf.unset("spark.sql.codegen.wholeStage")
    spark.conf.unset("spark.sql.codegen.factoryMode")


@pytest.fixture(scope="module")
def table(spark: SparkSession, events: list[dict[str, Any]]) -> DataFrame:
    rows = spark.createDataFrame(
        [(number, *event.values()) for number, event in enumerate(events)], f"row int, {SCHEMA}"
    )
    return rows.cache()


def _differences(
    table: DataFrame, events: list[dict[str, Any]], compiled: list[Any], wanted: list[Program]
) -> list[Any]:
    """Which filter and row Spark and the evaluator see differently."""
    names = [f"filter{number}" for number in range(len(compiled))]
    found = table.select(
        "row", *[F.coalesce(one, F.lit(False)).alias(name) for one, name in zip(compiled, names, strict=True)]
    )
    return [
        (program.expression, events[row["row"]], row[name])
        for row in found.collect()
        for name, program in zip(names, wanted, strict=True)
        if program.accepts(events[row["row"]]) != row[name]
    ]


def _compiled(table: DataFrame, parsed: list[Any]) -> tuple[list[Any], list[Program]]:
    columns, programs = [], []
    for one in parsed:
        try:
            columns.append(column(one, table.schema))
        except Inexpressible:
            continue
        programs.append(Program(one))
    return columns, programs


TYPICAL = Path(__file__).with_name("filters.txt").read_text().splitlines()


def test_every_construct(table: DataFrame, events: list[dict[str, Any]]) -> None:
    parsed = [parse(text, strict=False) for text in TYPICAL]
    columns, programs = _compiled(table, parsed)
    assert len(columns) == len(parsed)
    assert _differences(table, events, columns, programs) == []
    accepted = [program for program in programs if any(map(program.accepts, events))]
    assert len(accepted) > 0.8 * len(programs)


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions(table: DataFrame, events: list[dict[str, Any]], seed: int) -> None:
    rng = random.Random(seed)
    parsed = [parse(expressions.expression(rng, rng.randrange(4), False), strict=False) for _ in range(60)]
    columns, programs = _compiled(table, parsed)
    assert len(columns) > 40
    assert _differences(table, events, columns, programs) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
def test_random_expressions_for_long(table: DataFrame, events: list[dict[str, Any]], seed: int) -> None:
    test_random_expressions(table, events, seed)


def test_random_filters(table: DataFrame, events: list[dict[str, Any]]) -> None:
    rng = random.Random(7)
    parsed = [expression(read_filters([expressions.filters(rng, 2)], "")) for _ in range(60)]
    columns, programs = _compiled(table, parsed)
    assert len(columns) > 40
    assert _differences(table, events, columns, programs) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("UPPER(a) = 'X'", "UPPER: Spark's Java"),
        ("LENGTH(LOWER(a)) = 1", "LOWER: "),
        ("x9 = a", "=: Spark writes decimals"),
        ("CONCAT(a, x9) = ''", "CONCAT: Spark writes decimals"),
        ("when > 1", "when: a column of type timestamp"),
        (" AND ".join(["a = 'b'"] * MOST_STEPS), "more than Spark can bear"),
        ("a" + " XOR a" * 30, "too many alternatives"),
    ],
)
def test_the_rest_is_refused(table: DataFrame, text: str, words: str) -> None:
    schema = table.withColumn("when", F.current_timestamp()).schema
    with pytest.raises(Inexpressible, match=words):
        column(parse(text, strict=False), schema)


def test_plain_cesql_is_refused(table: DataFrame) -> None:
    with pytest.raises(Inexpressible, match="superset"):
        column(parse("a = 'b'"), table.schema)


@pytest.mark.parametrize(
    "text",
    [
        " OR ".join(f"a = '{number}'" for number in range(90)) + " OR a = 'ab'",
        " AND ".join(f"a != '{number}'" for number in range(90)),
        " AND (".join(f"a != '{number}' OR b = '{number}'" for number in range(7)) + ")" * 6,
        "a LIKE '" + "%a_" * 100 + "b'",
    ],
)
def test_long_filters(table: DataFrame, events: list[dict[str, Any]], text: str) -> None:
    parsed = parse(text, strict=False)
    assert _differences(table, events, [column(parsed, table.schema)], [Program(parsed)]) == []


def test_a_column_is_a_filter(table: DataFrame, events: list[dict[str, Any]]) -> None:
    parsed = expression(read_filters([{"prefix": {"a": "a"}}, {"not": {"sql": "hop > 3"}}], ""))
    rows = table.where(column(parsed, table.schema)).collect()
    assert [row["row"] for row in rows] == [n for n, event in enumerate(events) if Program(parsed).accepts(event)]
