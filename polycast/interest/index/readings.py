"""The ways in which filters read a value: as a number, as a text, as true or false, and so on.

A reading gives a key, and everything that a filter asks of a value is whether the key lies in an interval. Where
it gives none, it says what the filter answers instead: an error, or false.
"""

from collections.abc import Callable

from polycast.interest.cesql.like import ANY, matcher, pieces
from polycast.interest.cesql.values import Failure, to_boolean
from polycast.model.scalar import Value, instant, number_of, to_string

Key = int | float | bytes | bool | None
"""What a reading gives: a number, or a text as bytes in the order of its code points; False where every question
is answered with false, and None where it is answered with an error."""

Reader = Callable[[Value], Key]

_EPOCH = 1 << 62  # added to seconds, so that the earliest instants come first as bytes, too


def text_key(text: str) -> bytes:
    """A text in an order that is that of its code points."""
    return text.encode("utf-8", "surrogatepass")


def instant_key(moment: tuple[int, int]) -> bytes:
    """An instant in the order of time."""
    seconds, attoseconds = moment
    return (seconds + _EPOCH).to_bytes(8) + attoseconds.to_bytes(8)


def number(value: Value) -> int | float | None:
    """Any value as a number, as the superset casts it; None where it cannot."""
    if isinstance(value, str):
        return number_of(value)
    return int(value) if isinstance(value, bool) else value


def _number_or_false(value: Value) -> Key:
    found = number(value)
    return False if found is None else found


def _text(value: Value) -> Key:
    return text_key(to_string(value))


def _reversed_text(value: Value) -> Key:
    return text_key(to_string(value)[::-1])


def _boolean(value: Value) -> Key:
    try:
        return 1 if to_boolean(value) else False
    except Failure:
        return None


def _is_true(value: Value) -> Key:
    return 1 if value is True else False


def _word(of_number: Key, of_boolean: Key) -> Reader:
    """The text of a text; what the others give is given."""

    def read(value: Value) -> Key:
        if isinstance(value, str):
            return text_key(value)
        return of_boolean if isinstance(value, bool) else of_number

    return read


def _only_number(value: Value) -> Key:
    return False if isinstance(value, str | bool) else value


def _only_false(value: Value) -> Key:
    return 1 if value is False else False


def _no_number(value: Value) -> Key:
    return text_key(value) if isinstance(value, str) and number_of(value) is None else False


def _instant(value: Value) -> Key:
    if not isinstance(value, str):
        return None
    moment = instant(value)
    return False if moment is None else instant_key(moment)


def _no_instant(value: Value) -> Key:
    if not isinstance(value, str):
        return None
    return text_key(value) if instant(value) is None else False


WAYS: dict[str, Reader] = {
    "number": number,
    "number or false": _number_or_false,
    "text": _text,
    "reversed": _reversed_text,
    "boolean": _boolean,
    "true": _is_true,
    "exists": lambda _: 1,
    "word": _word(None, None),
    "word, number": _word(False, None),
    "word, boolean": _word(None, False),
    "word, number, boolean": _word(False, False),
    "only number": _only_number,
    "only true": _is_true,
    "only false": _only_false,
    "no number": _no_number,
    "instant": _instant,
    "no instant": _no_instant,
}
"""Each way's name, and how it reads a value that is there. A value that is missing reads as an error, or as false
where one asks whether it exists."""

LIKE = "like "
"""In front of a pattern: the way that asks whether the text is like it."""

TEXTUAL = frozenset(
    ("text", "reversed", "no number", "instant", "no instant", *(way for way in WAYS if way.startswith("word")))
)
"""The ways whose keys are texts; those of all others are numbers."""


def reader(way: str) -> Reader:
    """How to read a value in this way."""
    if not way.startswith(LIKE):
        return WAYS[way]
    pattern = way.removeprefix(LIKE)
    match pieces(pattern):
        case (int(first), str(text), int(last)) if first == last == ANY:
            return lambda value: 1 if text in to_string(value) else False
    matches = matcher(pattern)
    return lambda value: 1 if matches(to_string(value)) else False
