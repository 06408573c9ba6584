"""The values of filters as columns of Spark: a text, a number, or a truth, and how one is cast to another.

Where the evaluator meets an error, a column is null: Spark carries nulls upward as the evaluator does errors. What
Spark and the evaluator would see differently is refused.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from polycast.errors import BadInput
from polycast.model.scalar import LONGEST_NUMBER, Value, instant, number_of, to_string

Compare = Callable[[Any, Any], Any]

_WHOLE = r"\A[+-]?(?=[0-9])0*+[0-9]{0,19}\z"
_DECIMAL = r"\A[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?\z"
_TIMESTAMP = (
    r"\A(?!0000)([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-5][0-9]|60)(?:\.([0-9]{1,18}))?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))\z"
)
_EXACT = 1 << 53  # below it every integer is a decimal, too, and none beyond it looks as if it were below
_END = 2.0**63  # of the integers


class Inexpressible(BadInput):
    """Spark cannot say this, or not with equal meaning."""


@dataclass(frozen=True)
class Text:
    column: Column
    constant: str | None = None


@dataclass(frozen=True)
class Number:
    """An integer of 64 bits in one column or a decimal in the other; None where it can never be of that kind."""

    whole: Column | None
    real: Column | None
    constant: int | float | None = None


@dataclass(frozen=True)
class Truth:
    """Where it is true, and where it is false; null counts as no. After an error it is neither."""

    true: Column
    false: Column

    @classmethod
    def of(cls, column: Column) -> "Truth":
        return cls(column, ~column)


Part = Text | Number | Truth


def no() -> Column:
    return F.lit(False)


def failed() -> Truth:
    """What is neither true nor false, nor a text or a number."""
    return Truth(no(), no())


def zero() -> Number:
    return Number(F.lit(0).cast("bigint"), None, 0)


def constant(value: Value) -> Part:
    if isinstance(value, bool):
        return Truth.of(F.lit(value))
    if isinstance(value, str):
        return Text(F.lit(value), value)
    if isinstance(value, int):
        return Number(F.lit(value).cast("bigint"), None, value)
    return Number(None, F.lit(value), value)


# ---- casts


def to_text(part: Part) -> Column:
    match part:
        case Text(column):
            return column
        case Truth(true, false):
            return F.when(true, "true").when(false, "false")
        case Number(constant=value) if value is not None:
            return F.lit(to_string(value))
        case Number(whole, None) if whole is not None:
            return whole.cast("string")
    raise Inexpressible("", "Spark writes decimals in another way")


def to_truth(part: Part) -> Truth:
    match part:
        case Text(column):
            return Truth(column.rlike(r"\A(?i:true)\z"), column.rlike(r"\A(?i:false)\z"))
        case Number():
            return Truth.of(compare(operator.ne, part, zero()))
        case Truth():
            return part


def to_number(part: Part) -> Number:
    match part:
        case Text(column):
            return _number_in(column)
        case Truth(true, false):
            return Number(F.when(true, F.lit(1).cast("bigint")).when(false, F.lit(0).cast("bigint")), None)
        case Number():
            return part


def to_integer(part: Part) -> Column:
    """Without what stands behind the point."""
    number = to_number(part)
    if number.real is None:
        return _first(number.whole)
    return _first(number.whole, F.when(F.abs(number.real) < _END, number.real.try_cast("bigint")))


def finite(column: Column) -> Column:
    return F.when(F.abs(column) < float("inf"), column)


def _number_in(text: Column) -> Number:
    is_whole = text.rlike(_WHOLE)
    whole = F.when(is_whole, text.try_cast("bigint"))
    is_decimal = is_whole | ((F.char_length(text) <= LONGEST_NUMBER) & text.rlike(_DECIMAL))
    return Number(whole, F.when(whole.isNull() & is_decimal, finite(text.try_cast("double"))))


def _first(*columns: Column | None) -> Column:
    there = [column for column in columns if column is not None]
    return F.coalesce(*there) if len(there) > 1 else there[0]


# ---- comparisons; null where the evaluator would meet an error


def equal(x: Part, y: Part) -> Truth:
    """The type of ``y`` decides."""
    if isinstance(y, Text):
        return Truth.of(to_text(x) == y.column)
    if isinstance(y, Number):
        return Truth.of(compare(operator.eq, to_number(x), y))
    left = to_truth(x)
    return Truth((left.true & y.true) | (left.false & y.false), (left.true & y.false) | (left.false & y.true))


def ordered(sign: Compare, x: Part, y: Part) -> Truth:
    """Numbers if both are; else two instants, or else two texts."""
    if not isinstance(x, Text) or not isinstance(y, Text):
        return Truth.of(compare(sign, to_number(x), to_number(y)))
    found = sign(x.column, y.column)
    if _may_be(instant, x, y):
        earlier, later = _instant_in(x.column), _instant_in(y.column)
        found = F.when(earlier.isNotNull() & later.isNotNull(), sign(earlier, later)).otherwise(found)
    if _may_be(number_of, x, y):
        found = F.coalesce(compare(sign, to_number(x), to_number(y)), found)
    return Truth.of(found)


def _may_be(read: Callable[[str], Any], *texts: Text) -> bool:
    return all(text.constant is None or read(text.constant) is not None for text in texts)


def compare(sign: Compare, x: Number, y: Number) -> Column:
    """Exact, even between integers and decimals beyond 2^53."""
    is_small = any(part.constant is not None and abs(part.constant) < _EXACT for part in (x, y))
    return _first(
        _where_both(sign, x.whole, y.whole),
        _where_both(sign, x.real, y.real),
        _where_both(lambda whole, real: sign(_difference(whole, real, is_small), 0), x.whole, y.real),
        _where_both(lambda real, whole: sign(0, _difference(whole, real, is_small)), x.real, y.whole),
    )


def _where_both(work: Compare, x: Column | None, y: Column | None) -> Column | None:
    return None if x is None or y is None else work(x, y)


def _difference(whole: Column, real: Column, is_small: bool) -> Column:
    """A decimal with the sign of an integer less a decimal."""
    if is_small:
        return whole.cast("double") - real
    cut = F.when((real >= -_END) & (real < _END), real.try_cast("bigint"))
    return (
        F.when(real.isNull() | whole.isNull(), F.lit(None).cast("double"))
        .when(cut.isNull(), -F.signum(real))
        .when(whole != cut, F.when(whole < cut, -1.0).otherwise(1.0))
        .otherwise(cut.cast("double") - real)
    )


def _instant_in(text: Column) -> Column:
    """Seconds and the digits of their fraction, as a struct; null where the text is no timestamp."""

    def group(number: int) -> Column:
        return F.regexp_extract(text, _TIMESTAMP, number)

    def count(number: int) -> Column:
        return F.coalesce(group(number).try_cast("bigint"), F.lit(0))

    minute = F.unix_seconds(F.try_to_timestamp(F.concat(group(1), F.lit("T"), group(2), F.lit(":00Z"))))
    offset = F.when(group(5) == "-", -1).otherwise(1) * (count(6) * 3600 + count(7) * 60)
    moment = F.struct(minute + count(3) - offset, F.rpad(group(4), 18, "0"))
    return F.when(text.rlike(_TIMESTAMP) & minute.isNotNull(), moment)


# ---- arithmetic


def _divided(x: Column, y: Column) -> Column:
    """Towards zero; no divisor that Spark objects to."""
    harmless = F.nullif(F.nullif(y, F.lit(0)), F.lit(-1))
    return F.when(y == -1, F.try_subtract(F.lit(0).cast("bigint"), x)).otherwise(
        F.call_function("div", x, harmless)
    )


_WHOLE_WORK: dict[str, Compare] = {
    "+": F.try_add,
    "-": F.try_subtract,
    "*": F.try_multiply,
    "/": _divided,
    "%": lambda x, y: x % F.nullif(y, F.lit(0)),
}
_REAL_WORK: dict[str, Compare] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda x, y: x / F.nullif(y, F.lit(0.0)),
    "%": lambda x, y: x % F.nullif(y, F.lit(0.0)),
}


def arithmetic(sign: str, x: Number, y: Number) -> Number:
    """An integer of two integers, else a decimal; null where it does not fit."""
    whole = _where_both(_WHOLE_WORK[sign], x.whole, y.whole)
    reals = [part.real for part in (x, y) if part.real is not None]
    if not reals:
        return Number(whole, None)
    worked = finite(_REAL_WORK[sign](_as_real(x), _as_real(y)))
    return Number(whole, worked if whole is None else F.when(F.coalesce(*reals).isNotNull(), worked))


def _as_real(part: Number) -> Column:
    return _first(part.real, None if part.whole is None else part.whole.cast("double"))


def absolute(x: Number) -> Number:
    zero = F.lit(0).cast("bigint")
    whole = None if x.whole is None else F.when(x.whole < 0, F.try_subtract(zero, x.whole)).otherwise(x.whole)
    return Number(whole, None if x.real is None else F.abs(x.real))
