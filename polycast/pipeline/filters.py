"""A subscription's filters as a column of Spark, to be used in ``where``: the same expression, over a whole table.

Only what Spark expresses with equal meaning is compiled; the rest is refused with ``Inexpressible``, and must be
evaluated row by row (``interest.dialects.program``).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

from polycast.interest.cesql.expression import Expression, Step, fold
from polycast.interest.cesql.functions import find, table
from polycast.interest.cesql.like import ANY, ONE, pieces
from polycast.interest.cesql.operators import ORDERS
from polycast.interest.cesql.values import SUPERSET
from polycast.pipeline.columns import (
    Inexpressible,
    Number,
    Part,
    Text,
    Truth,
    arithmetic,
    constant,
    equal,
    failed,
    finite,
    no,
    ordered,
    to_number,
    to_text,
    to_truth,
    zero,
)
from polycast.pipeline.functions import call

MOST_STEPS = 400  # of an expression; Spark's planner recurses
MOST_TESTS = 4_000  # in the column: a test is repeated where the outcome of an OR depends on whether it fails

_WHOLE_TYPES = (ByteType, ShortType, IntegerType, LongType)
_REAL_TYPES = (FloatType, DoubleType)


def column(expression: Expression, schema: StructType) -> Column:
    """The column that is true for the events which the expression accepts, and false or null for the others.

    Parameters
    ----------
    expression
        In the superset, as ``interest.dialects.expression`` makes it of a subscription's filters.
    schema
        Of the table: a column for every attribute, null where an event does not have it, and ``data`` for the
        payload, of structs, maps with texts for keys, and arrays. An attribute without a column is always missing.
    """
    if expression.strict:
        raise Inexpressible("expression", "plain CESQL; only the superset is compiled, parse with strict=False")
    if len(expression.steps) > MOST_STEPS:
        raise Inexpressible(
            "expression", f"{len(expression.steps)} steps, more than Spark can bear ({MOST_STEPS})"
        )
    whole = fold(expression, _Compiler(schema).operand)
    return whole.part.true if isinstance(whole.part, Truth) else no()


@dataclass
class _Operand:
    """A compiled operand, or a chain of ANDs or of ORs that may still grow.

    Attributes
    ----------
    tests
        How large the larger of its columns is.
    """

    compiled: Part | None
    tests: int = 1
    kind: str = ""
    chain: list[Truth] = field(default_factory=list)

    @property
    def part(self) -> Part:
        return self.compiled if self.compiled is not None else _joined(self.kind, self.chain)


class _Compiler:
    def __init__(self, schema: StructType) -> None:
        self.schema = schema

    def operand(self, _: int, step: Step, operands: list[_Operand]) -> _Operand:
        kind, detail = step
        tests = sum(operand.tests for operand in operands) * (2 if kind in ("and", "or", "xor") else 1)
        if tests > MOST_TESTS:
            raise Inexpressible("expression", "it has too many alternatives for one column")
        if kind in ("and", "or"):
            return _connected(kind, operands[0], operands[1])
        try:
            return _Operand(self.part(kind, detail, [operand.part for operand in operands]), tests + 1)
        except Inexpressible as refusal:
            name = detail[0] if kind == "call" else kind.upper()
            raise Inexpressible(refusal.where or name, refusal.why) from None

    def part(self, kind: str, detail: Any, parts: list[Part]) -> Part:
        if kind == "const":
            return constant(detail)
        if kind in ("attr", "path"):
            return self.read((detail,) if kind == "attr" else detail)
        if kind == "exists":
            found, _ = self.place(detail)
            return Truth.of(no() if found is None else found.isNotNull())
        if kind in _TEXT_TESTS:
            return _quietly(_TEXT_TESTS[kind](to_text(self.read((detail[0],))), detail[1]))
        if kind == "call":
            name, count = detail
            return failed() if find(_FUNCTIONS, name, count) is None else call(name, parts)
        if kind == "like":
            return Truth.of(_like(to_text(parts[0]), detail))
        if kind == "in":
            return _contained(parts[0], parts[1:])
        return _OPERATORS[kind](*parts)

    def read(self, path: tuple[str, ...]) -> Part:
        """An attribute, or what stands in the payload."""
        column, type_ = self.place(path)
        if column is None or isinstance(type_, StructType | MapType | ArrayType):
            return failed()
        if isinstance(type_, StringType):
            return Text(column)
        if isinstance(type_, BooleanType):
            return Truth.of(column)
        if isinstance(type_, _WHOLE_TYPES):
            return Number(column.cast("bigint"), None)
        if isinstance(type_, _REAL_TYPES):
            return Number(None, finite(column.cast("double")))
        raise Inexpressible(
            ".".join(path), f"a column of type {type_.simpleString()} holds no value of the language"
        )

    def place(self, path: tuple[str, ...]) -> tuple[Column | None, DataType]:
        """The column for a path, and its type; None where the table can hold nothing under it."""
        column: Column | None = None
        type_: DataType = self.schema
        for key in path:
            if isinstance(type_, StructType) and key in type_.names:
                column = F.col(f"`{key}`") if column is None else column.getField(key)
                type_ = type_[key].dataType
            elif isinstance(type_, MapType) and isinstance(type_.keyType, StringType) and column is not None:
                column, type_ = column.getItem(key), type_.valueType
            elif isinstance(type_, ArrayType) and column is not None and key.isdecimal() and len(key) < 10:
                column, type_ = F.get(column, F.lit(int(key))), type_.elementType
            else:
                return None, type_
        return column, type_


# ---- logic


def _connected(kind: str, left: _Operand, right: _Operand) -> _Operand:
    """However long a chain of one operator is, its columns are made once, at its end."""
    before, tests = (left.chain, left.tests) if left.kind == kind else ([to_truth(left.part)], 2 * left.tests)
    return _Operand(None, tests + 2 * right.tests, kind, [*before, to_truth(right.part)])


def _joined(kind: str, truths: list[Truth]) -> Truth:
    """Operands go one after the other, up to the one that decides or fails."""
    if kind == "and":
        return Truth(
            _every(truth.true for truth in truths), _first(truths, lambda truth: (truth.true, truth.false))
        )
    return Truth(_first(truths, lambda truth: (truth.false, truth.true)), _every(truth.false for truth in truths))


def _every(columns: Iterable[Column]) -> Column:
    return reduce(lambda left, right: left & right, columns)


def _first(truths: list[Truth], sides: Callable[[Truth], tuple[Column, Column]]) -> Column:
    """Where one of them goes to the other side, and all before it to the one."""
    _, found = sides(truths[-1])
    for truth in reversed(truths[:-1]):
        onward, decided = sides(truth)
        found = decided | (onward & found)
    return found


def _not(x: Part) -> Truth:
    truth = to_truth(x)
    return Truth(truth.false, truth.true)


def _unlike(x: Part, y: Part) -> Truth:
    left, right = to_truth(x), to_truth(y)
    return _not(equal(left, right))


def _quietly(accepted: Column) -> Truth:
    """A test that does not fail: what is no yes is a no."""
    return Truth(accepted, ~F.coalesce(accepted, no()))


def _filter(x: Part) -> Truth:
    return _quietly(x.true if isinstance(x, Truth) else no())


# ---- tests


def _contained(x: Part, elements: list[Part]) -> Truth:
    if isinstance(x, Text) and all(
        isinstance(element, Text) and element.constant is not None for element in elements
    ):
        return Truth.of(x.column.isin([to_text(element) for element in elements]))
    truths = [equal(element, x) for element in elements]
    return Truth(_first(truths, lambda truth: (truth.false, truth.true)), _every(truth.false for truth in truths))


def _like(text: Column, pattern: str) -> Column:
    """The forms that Spark can look up in a file's statistics as such, all others as a regular expression."""
    match pieces(pattern):
        case ():
            return text == ""
        case (str(whole),):
            return text == whole
        case (str(beginning), -1):
            return text.startswith(beginning)
        case (-1, str(end)):
            return text.endswith(end)
        case (-1, str(middle), -1):
            return text.contains(middle)
        case parts:
            return text.rlike(_regular(parts))


def _regular(parts: tuple[str | int, ...]) -> str:
    """Between two ``%`` the leftmost place is the right one; atomic groups keep Java from trying any other."""
    segments = [""]
    for part in parts:
        if part == ANY:
            segments.append("")
        else:
            segments[-1] += "." if part == ONE else re.escape(str(part))
    first, *middle = segments
    if not middle:
        return rf"(?s)\A{first}\z"
    *middle, last = middle
    return rf"(?s)\A{first}" + "".join(f"(?>.*?{segment})" for segment in middle) + rf".*{last}\z"


_TEXT_TESTS: dict[str, Callable[[Column, str], Column]] = {
    "exact": lambda text, wanted: text == wanted,
    "prefix": lambda text, wanted: text.startswith(wanted),
    "suffix": lambda text, wanted: text.endswith(wanted),
}


def _ordered_by(sign: Callable[[Any, Any], Any]) -> Callable[[Part, Part], Truth]:
    return lambda x, y: ordered(sign, x, y)


def _arithmetic_of(sign: str) -> Callable[[Part, Part], Number]:
    return lambda x, y: arithmetic(sign, to_number(x), to_number(y))


_OPERATORS: dict[str, Callable[..., Part]] = {
    "not": _not,
    "xor": _unlike,
    "quiet": _filter,
    "neg": lambda x: arithmetic("-", zero(), to_number(x)),
    "=": equal,
    "!=": lambda x, y: _not(equal(x, y)),
    **{sign: _ordered_by(compare) for sign, compare in ORDERS},
    **{sign: _arithmetic_of(sign) for sign in "+-*/%"},
}
_FUNCTIONS = table(SUPERSET)
