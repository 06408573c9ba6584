"""What a value of an attribute reads as: a text always, and a number or an instant where its text spells one.

Filters, the index over them and regions read values in these ways, and in no others.
"""

import base64
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

Value = str | int | bool | float

SMALLEST, LARGEST = -0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF  # integers; what is beyond is a decimal

_BEGINNINGS = frozenset("+-0123456789")  # of numbers

LONGEST_NUMBER = 400  # what is longer, in characters, is a text

_INTEGER = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19})")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-5][0-9]|60)(?:\.([0-9]{1,18}))?"
    r"([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LONGEST_TIMESTAMP = 44
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MINUTE = timedelta(minutes=1)


def scalar(value: Any) -> Value | None:
    """What an event holds, as a value that filters know; None if it is none, and counts as missing."""
    kind = value.__class__
    if kind is str or kind is bool:
        return value  # type: ignore[no-any-return]
    if isinstance(value, int):
        if SMALLEST <= value <= LARGEST:
            return int(value)
        return float(value) if value.bit_length() <= 1000 else None
    if isinstance(value, float):
        return float(value) if abs(value) < float("inf") else None
    return _text_of(value)


def _text_of(value: Any) -> str | None:
    """The text that CloudEvents gives to a value of its other types; None if it is of none."""
    if isinstance(value, str):
        return value[:]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return None


def to_string(value: Value) -> str:
    """The text of a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def integer_of(text: str) -> int | None:
    """The integer that a text spells in digits, or None."""
    if len(text) < 10 and text.isdecimal() and text.isascii():
        return int(text)
    found = _INTEGER.fullmatch(text)
    return int(found[1] + (found[2] or "0")) if found else None


def number_of(text: str) -> int | float | None:
    """The number that a text spells, or None."""
    if len(text) < 10 and text.isdecimal() and text.isascii():
        return int(text)
    if text[:1] not in _BEGINNINGS:
        return None
    digits = integer_of(text) if "." not in text else None
    if digits is not None:
        return fitting(digits)
    if len(text) <= LONGEST_NUMBER and _DECIMAL.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else None
    return None


def fitting(number: int) -> int | float:
    """An integer of 64 bits as it is, a larger one as a decimal."""
    return number if SMALLEST <= number <= LARGEST else float(number)


def instant(text: str) -> tuple[int, int] | None:
    """A timestamp as seconds and attoseconds since 1970; None if the text is none."""
    return _instant(text) if len(text) <= _LONGEST_TIMESTAMP else None


@lru_cache(maxsize=4096)  # many filters ask this of the same event
def _instant(text: str) -> tuple[int, int] | None:
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    day, clock, seconds, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}:00+00:00") - _EPOCH
        if zone not in "Zz":
            offset = int(zone[:3]) * 60 + int(zone[0] + zone[4:])
            moment -= offset * _MINUTE
    except ValueError:
        return None
    return int(moment.total_seconds()) + int(seconds), int((fraction or "0").ljust(18, "0"))


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
