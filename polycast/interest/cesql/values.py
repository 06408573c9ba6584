"""The values of CESQL, how one type is cast to another, and what goes wrong (CESQL 1.0, sections 3.1 and 3.7).

The superset knows one more type, decimals (64-bit floating point), and integers of 64 bits. It casts whatever
plain CESQL casts in the same way, and more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polycast.model.scalar import LARGEST, SMALLEST, Value, instant, integer_of, number_of, scalar

LONGEST_STRING = 1 << 26  # what CONCAT may make, in characters: expressions must not eat the memory


class Failure(Exception):
    """An evaluation error on its way up.

    Attributes
    ----------
    kind
        As in ``Result.error``.
    value
        What the operator or function that failed answers nevertheless; None for the zero of its type.
    step
        The function call that failed, as its position in the expression.
    """

    def __init__(self, kind: str, value: Value | None = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value
        self.step = -1


def to_boolean(value: Value) -> bool:
    """``true`` and ``false`` in any case; of numbers, all but zero."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) == 4 and value.lower() == "true":
            return True
        if len(value) == 5 and value.lower() == "false":
            return False
        raise Failure("cast")
    return value != 0


def _plain_integer(value: Value) -> int:
    """Plain CESQL: 32 bits, in digits, with a sign or without."""
    if isinstance(value, str):
        number = integer_of(value)
        if number is not None and -0x8000_0000 <= number <= 0x7FFF_FFFF:
            return number
        raise Failure("cast")
    return int(value)


def _number(value: Value) -> int | float:
    """The superset: integers of 64 bits, and whatever else is written as a number as a decimal."""
    if isinstance(value, str):
        number = number_of(value)
        if number is None:
            raise Failure("cast")
        return number
    return int(value) if value.__class__ is bool else value


def _integer(value: Value) -> int:
    """The superset: the number, without what stands behind the point."""
    number = _number(value)
    if isinstance(number, float) and not abs(number) < 2.0**63:
        raise Failure("cast")
    return int(number)


def _plain_order(x: Value, y: Value) -> tuple[Any, Any]:
    return _plain_integer(x), _plain_integer(y)


def _wider_order(x: Value, y: Value) -> tuple[Any, Any]:
    """Numbers if both are; else two timestamps, or else two texts; a number and a word have no order."""
    if not isinstance(x, str) or not isinstance(y, str):
        return _number(x), _number(y)
    left, right = number_of(x), number_of(y)
    if left is not None and right is not None:
        return left, right
    earlier, later = instant(x), instant(y)
    if earlier is not None and later is not None:
        return earlier, later
    return x, y


def _plain_attribute(value: Any) -> Value | None:
    """A number that is no integer of 32 bits counts by its text."""
    known = scalar(value)
    if isinstance(known, int):
        return known if -0x8000_0000 <= known <= 0x7FFF_FFFF else str(known)
    return str(known) if isinstance(known, float) else known


def _plain_bounded(number: int | float) -> int | float:
    if -0x8000_0000 <= number <= 0x7FFF_FFFF:
        return number
    raise Failure("math")


def _wider_bounded(number: int | float) -> int | float:
    if isinstance(number, int):
        if SMALLEST <= number <= LARGEST:
            return number
    elif abs(number) < float("inf"):
        return number
    raise Failure("math")


@dataclass(frozen=True, eq=False)
class Dialect:
    """What plain CESQL and the superset do each in their own way.

    Attributes
    ----------
    number, integer
        Casts: to what arithmetic works on, and to what counts characters.
    order
        Two values in the form in which ``<`` compares them.
    attribute
        An event's value as a value of the language; None if it has none.
    bounded
        The result of arithmetic, or a failure if it does not fit.
    """

    strict: bool
    number: Callable[[Value], int | float]
    integer: Callable[[Value], int]
    order: Callable[[Value, Value], tuple[Any, Any]]
    attribute: Callable[[Any], Value | None]
    bounded: Callable[[int | float], int | float]


PLAIN = Dialect(True, _plain_integer, _plain_integer, _plain_order, _plain_attribute, _plain_bounded)
SUPERSET = Dialect(False, _number, _integer, _wider_order, scalar, _wider_bounded)
