"""The operators of CESQL on values (section 3.4): casts first, then the work."""

import math
import operator
from collections.abc import Callable
from typing import Any

from polycast.interest.cesql.values import Dialect, Failure, to_boolean
from polycast.model.scalar import Value, to_string

Binary = Callable[[Value, Value], Value]
Unary = Callable[[Value], Value]

ORDERS: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
    ("<", operator.lt),
    ("<=", operator.le),
    (">", operator.gt),
    (">=", operator.ge),
)


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


def binaries(dialect: Dialect) -> dict[str, Binary]:
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


def unaries(dialect: Dialect) -> dict[str, Unary]:
    """Every operator of one operand."""
    number, bounded = dialect.number, dialect.bounded
    return {"not": lambda x: not to_boolean(x), "neg": lambda x: bounded(-number(x))}


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
            return bounded(work(number(x), number(y)))
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
