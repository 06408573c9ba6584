"""The functions of CESQL (section 3.5): what each takes, and what it answers."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from polycast.interest.cesql.values import LONGEST_STRING, Dialect, Failure, to_boolean
from polycast.model.scalar import Value, to_string

# Unicode's White_Space, which TRIM removes.
BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


class Function(NamedTuple):
    """A function of one name and arity.

    Attributes
    ----------
    parameters
        A letter each: String, Integer (a count), Number, Any.
    more
        The type of any further arguments; None if there are none.
    zero
        What it answers when an argument fails: the zero of its type.
    """

    parameters: str
    more: str | None
    zero: Value
    body: Callable[..., Value]


def _left(x: str, y: int) -> str:
    if y < 0:
        raise Failure("functionEvaluation", x)
    return x[:y]


def _right(x: str, y: int) -> str:
    if y < 0:
        raise Failure("functionEvaluation", x)
    return x[max(len(x) - y, 0) :]


def _substring(x: str, position: int, length: int | None = None) -> str:
    """Positions count from 1, or from the end if negative; 0 is nowhere."""
    if abs(position) > len(x) or (length is not None and length < 0):
        raise Failure("functionEvaluation")
    if position == 0:
        return ""
    start = position - 1 if position > 0 else len(x) + position
    return x[start:] if length is None else x[start : start + length]


def _concat(*parts: str) -> str:
    return _concat_ws("", *parts)


def _concat_ws(delimiter: str, *parts: str) -> str:
    if sum(map(len, parts)) + len(delimiter) * len(parts) > LONGEST_STRING:
        raise Failure("functionEvaluation")
    return delimiter.join(parts)


def _absolute_32(x: int) -> int:
    if x == -0x8000_0000:
        raise Failure("math", 0x7FFF_FFFF)
    return abs(x)


def _absolute_64(x: int | float) -> int | float:
    if x == -0x8000_0000_0000_0000:
        raise Failure("math", 0x7FFF_FFFF_FFFF_FFFF)
    return abs(x)


@lru_cache
def table(dialect: Dialect) -> Mapping[str, tuple[Function, ...]]:
    """Every function by name, in upper case; the overloads of a name differ in arity."""
    return {
        "LENGTH": (Function("S", None, 0, len),),
        "CONCAT": (Function("", "S", "", _concat),),
        "CONCAT_WS": (Function("S", "S", "", _concat_ws),),
        "LOWER": (Function("S", None, "", str.lower),),
        "UPPER": (Function("S", None, "", str.upper),),
        "TRIM": (Function("S", None, "", lambda x: x.strip(BLANKS)),),
        "LEFT": (Function("SI", None, "", _left),),
        "RIGHT": (Function("SI", None, "", _right),),
        "SUBSTRING": (Function("SI", None, "", _substring), Function("SII", None, "", _substring)),
        "ABS": (Function("N", None, 0, _absolute_32 if dialect.strict else _absolute_64),),
        "INT": (Function("A", None, 0, dialect.integer),),
        "BOOL": (Function("A", None, False, to_boolean),),
        "STRING": (Function("A", None, "", to_string),),
    }


def find(functions: Mapping[str, tuple[Function, ...]], name: str, arity: int) -> Function | None:
    """The function of this name that takes so many arguments."""
    for function in functions.get(name, ()):
        fixed = len(function.parameters)
        if arity == fixed or (function.more is not None and arity > fixed):
            return function
    return None


def caller(function: Function, arity: int, dialect: Dialect) -> Callable[..., Value]:
    """The function's body behind the casts of its arguments."""
    casts: dict[str, Callable[[Any], Any]] = {"S": to_string, "I": dialect.integer, "N": dialect.number}
    types = function.parameters + (function.more or "") * (arity - len(function.parameters))
    body = function.body
    if types == "A":
        return body
    wanted = [casts[type_] for type_ in types]
    if len(types) == 1:
        [cast] = wanted
        return lambda x: body(cast(x))
    if len(types) == 2:
        first, second = wanted
        return lambda x, y: body(first(x), second(y))
    if types == "S" * len(types):
        return lambda *arguments: body(*map(to_string, arguments))
    return lambda *arguments: body(*[cast(x) for cast, x in zip(wanted, arguments, strict=True)])
