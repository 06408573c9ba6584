"""The functions of CESQL as Spark says them."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from polycast.interest.cesql.functions import BLANKS
from polycast.pipeline.columns import (
    Inexpressible,
    Number,
    Part,
    Text,
    absolute,
    to_integer,
    to_number,
    to_text,
    to_truth,
)


def call(name: str, arguments: list[Part]) -> Part:
    """A function that exists, of arguments in the right number."""
    if name not in _FUNCTIONS:
        raise Inexpressible(name, "Spark's Java does not know the same letters")
    return _FUNCTIONS[name](*arguments)


def _length(x: Part) -> Number:
    return Number(_count(to_text(x)), None)


def _count(text: Column) -> Column:
    return F.char_length(text).cast("bigint")


def _concat(*parts: Part) -> Text:
    return Text(F.concat(*map(to_text, parts)) if parts else F.lit(""))


def _concat_ws(delimiter: Part, *parts: Part) -> Text:
    between = to_text(delimiter)
    if not parts:
        return Text(F.when(between.isNotNull(), ""))
    first, *others = map(to_text, parts)
    joined = F.concat(first, *[part for other in others for part in (between, other)])
    return Text(F.when(between.isNotNull(), joined))


def _left(x: Part, count: Part) -> Text:
    text, wanted = to_text(x), to_integer(count)
    return Text(F.when(wanted >= 0, _cut(text, F.lit(1), wanted)))


def _right(x: Part, count: Part) -> Text:
    text, wanted = to_text(x), to_integer(count)
    start = F.greatest(_count(text) - F.least(wanted, _count(text)), F.lit(0)) + 1
    return Text(F.when(wanted >= 0, _cut(text, start, wanted)))


def _substring(x: Part, position: Part, length: Part | None = None) -> Text:
    text, place = to_text(x), to_integer(position)
    count = _count(text)
    wanted = count if length is None else to_integer(length)
    start = F.when(place > 0, place).otherwise(count + place + 1)
    is_inside = (place <= count) & (place >= -count) & (wanted >= 0)
    return Text(F.when(is_inside, F.when(place == 0, "").otherwise(_cut(text, start, wanted))))


def _cut(text: Column, start: Column, count: Column) -> Column:
    """So many characters from a place within the text, or as many as there are; null if anything is."""
    cut = F.substr(text, start.cast("int"), F.least(count, _count(text)).cast("int"))
    return F.when(start.isNotNull() & count.isNotNull(), cut)


_FUNCTIONS: dict[str, Callable[..., Part]] = {
    "LENGTH": _length,
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "TRIM": lambda x: Text(F.btrim(to_text(x), F.lit(BLANKS))),
    "LEFT": _left,
    "RIGHT": _right,
    "SUBSTRING": _substring,
    "ABS": lambda x: absolute(to_number(x)),
    "INT": lambda x: Number(to_integer(x), None),
    "BOOL": to_truth,
    "STRING": lambda x: Text(to_text(x)),
}
