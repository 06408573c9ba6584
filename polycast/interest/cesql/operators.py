"""The operators of CESQL on values (section 3.4): casts first, then the work."""

import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from polycast.interest.cesql.values import Dialect, Failure, to_boolean
from polycast.model.scalar import Value, instant, number_of, to_string

Binary = Callable[[Value, Value], Value]
Unary = Callable[[Value], Value]

ORDERS: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
    ("<", operator.lt),
    ("<=", operator.le),
    (">", operator.gt),
    (">=", operator.ge),
)
_COMPARES = dict(ORDERS)

# What the plain filter dialects ask of an attribute's text.
TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "exact": str.__eq__,
    "prefix": str.startswith,
    "suffix": str.endswith,
}


def equality(dialect: Dialect) -> Callable[[Value, Value], bool]:
    """``=``: the right operand's type decides, and the left one is cast to it (section 3.7)."""
    number = dialect.number

    def equal(x: Value, y: Value) -> bool:
        wanted = y.__class__
        if x.__class__ is wanted:
            return x == y
        if wanted is str:
            return to_string(x) == y
        if wanted is bool:
            return to_boolean(x) is y
        return number(x) == y

    return equal


@lru_cache
def binaries(dialect: Dialect) -> Mapping[str, Binary]:
    """Every operator of two operands that evaluates both."""
    equal = equality(dialect)
    found: dict[str, Binary] = {
        "=": equal,
        "!=": lambda x, y: not equal(x, y),
        "xor": lambda x, y: to_boolean(x) is not to_boolean(y),
        "+": _arithmetic(dialect, operator.add),
        "-": _arithmetic(dialect, operator.sub),
        "*": _arithmetic(dialect, operator.mul),
        "/": _arithmetic(dialect, _quotient),
        "%": _arithmetic(dialect, _remainder),
    }
    for sign, compare in ORDERS:
        found[sign] = _comparison(dialect, compare)
    return found


@lru_cache
def unaries(dialect: Dialect) -> Mapping[str, Unary]:
    """Every operator of one operand."""
    number, bounded = dialect.number, dialect.bounded
    return {"not": lambda x: not to_boolean(x), "neg": lambda x: bounded(-number(x))}


def with_constant(dialect: Dialect, kind: str, constant: Value) -> Unary:
    """An operator whose right operand is known: what can be found out about that is found out once."""
    work = binaries(dialect)[kind]
    if kind == "=":
        wanted = constant.__class__
        return lambda x: x == constant if x.__class__ is wanted else work(x, constant)
    compare = _COMPARES.get(kind)
    if compare is None or isinstance(constant, bool):
        return lambda x: work(x, constant)
    if not isinstance(constant, str):
        number = dialect.number
        return lambda x: bool(compare(x if x.__class__ is int else number(x), constant))
    if dialect.strict or number_of(constant) is not None:
        return lambda x: work(x, constant)
    return _ordered_with_text(compare, constant, lambda x: work(x, constant))


def _ordered_with_text(compare: Callable[[Any, Any], Any], constant: str, otherwise: Unary) -> Unary:
    """A text that is no number has an order with timestamps, if it is one itself, and else with texts."""
    moment = instant(constant)

    def compared(x: Value) -> Value:
        if x.__class__ is not str:
            return otherwise(x)
        found = None if moment is None else instant(x)
        return bool(compare(x, constant) if found is None else compare(found, moment))

    return compared


def _comparison(dialect: Dialect, compare: Callable[[Any, Any], Any]) -> Binary:
    order = dialect.order

    def compared(x: Value, y: Value) -> bool:
        if x.__class__ is int and y.__class__ is int:
            return bool(compare(x, y))
        return bool(compare(*order(x, y)))

    return compared


def _arithmetic(dialect: Dialect, work: Callable[[int | float, int | float], int | float]) -> Binary:
    number, bounded = dialect.number, dialect.bounded

    def worked(x: Value, y: Value) -> Value:
        try:
            left = x if x.__class__ is int else number(x)
            right = y if y.__class__ is int else number(y)
            return bounded(work(left, right))
        except OverflowError:
            raise Failure("math") from None

    return worked


def _quotient(x: int | float, y: int | float) -> int | float:
    """Of integers rounded towards zero; of decimals exact as far as they go."""
    if y == 0:
        raise Failure("math")
    if isinstance(x, int) and isinstance(y, int):
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return x / y


def _remainder(x: int | float, y: int | float) -> int | float:
    """With the sign of the dividend."""
    if y == 0:
        raise Failure("math")
    if isinstance(x, int) and isinstance(y, int):
        return abs(x) % abs(y) if x >= 0 else -(abs(x) % abs(y))
    return math.fmod(x, y)
