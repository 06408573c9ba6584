"""The values of CESQL, how one type is cast to another, and what goes wrong (CESQL 1.0, sections 3.1 and 3.7).

The superset knows one more type, decimals (64-bit floating point), and integers of 64 bits. It casts whatever
plain CESQL casts in the same way, and more.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Value = str | int | bool | float

LONGEST_STRING = 1 << 26  # what CONCAT may make, in characters: expressions must not eat the memory

LONGEST_NUMBER = 400  # what is longer, in characters, is a text

_INTEGER = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19})")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.([0-9]{1,18}))?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MINUTE = timedelta(minutes=1)


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


def to_string(value: Value) -> str:
    """The text of a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


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
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        number = integer_of(value)
        if number is not None and -0x8000_0000 <= number <= 0x7FFF_FFFF:
            return number
    raise Failure("cast")


def _number(value: Value) -> int | float:
    """The superset: integers of 64 bits, and whatever else is written as a number as a decimal."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    number = number_of(value)
    if number is None:
        raise Failure("cast")
    return number


def integer_of(text: str) -> int | None:
    """The integer that a text spells in digits, or None."""
    if len(text) < 10 and text.isdecimal() and text.isascii():
        return int(text)
    found = _INTEGER.fullmatch(text)
    return int(found[1] + (found[2] or "0")) if found else None


def number_of(text: str) -> int | float | None:
    """The number that a text spells, or None."""
    digits = integer_of(text)
    if digits is not None:
        return _fitting(digits)
    if len(text) <= LONGEST_NUMBER and _DECIMAL.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else None
    return None


def _fitting(number: int) -> int | float:
    return number if -0x8000_0000_0000_0000 <= number <= 0x7FFF_FFFF_FFFF_FFFF else float(number)


def _integer(value: Value) -> int:
    """The superset: the number, without what stands behind the point."""
    number = _number(value)
    if isinstance(number, float) and not abs(number) < 2.0**63:
        raise Failure("cast")
    return int(number)


def instant(text: str) -> tuple[int, int] | None:
    """A timestamp as seconds and attoseconds since 1970; None if the text is none."""
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    day, clock, seconds, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}:00+00:00") - _EPOCH
        if zone not in "Zz":
            datetime.fromisoformat(f"{day}T{clock}:00{zone}")
            offset = int(zone[:3]) * 60 + int(zone[0] + zone[4:])
            moment -= offset * _MINUTE
    except (ValueError, OverflowError):
        return None
    if int(seconds) > 60:
        return None
    return int(moment.total_seconds()) + int(seconds), int((fraction or "0").ljust(18, "0"))


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
    """What is neither a string, an integer of 32 bits nor a boolean counts by its text."""
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if -0x8000_0000 <= value <= 0x7FFF_FFFF else str(value)
    return str(value) if isinstance(value, float) else None


def _wider_attribute(value: Any) -> Value | None:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > 1000:
            return None
        return _fitting(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return None


def _plain_bounded(number: int | float) -> int | float:
    if -0x8000_0000 <= number <= 0x7FFF_FFFF:
        return number
    raise Failure("math")


def _wider_bounded(number: int | float) -> int | float:
    if isinstance(number, int):
        if -0x8000_0000_0000_0000 <= number <= 0x7FFF_FFFF_FFFF_FFFF:
            return number
    elif abs(number) < float("inf"):
        return number
    raise Failure("math")


@dataclass(frozen=True)
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
SUPERSET = Dialect(False, _number, _integer, _wider_order, _wider_attribute, _wider_bounded)


def lookup(attributes: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """What stands in the payload under a path such as ``data.location.lat``; None if nothing does."""
    value: Any = attributes.get(path[0])
    for key in path[1:]:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list | tuple) and key.isdecimal() and len(key) < 10:
            value = value[int(key)] if int(key) < len(value) else None
        else:
            return None
    return value
