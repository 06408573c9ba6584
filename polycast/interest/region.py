"""Where the events lie that a filter accepts: a safe bound of the filter in the content space.

An expression is read step by step, and for every part two regions are kept: one that holds all events for which
the part is true, and one that holds all for which it is false. An event for which it fails may lie in neither.
"""

import contextlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from polycast.interest.cesql.expression import Expression, Step, fold
from polycast.interest.cesql.like import ANY, pieces
from polycast.interest.cesql.values import Failure, to_boolean
from polycast.model.region import ABSENT, EVERYTHING, NOTHING, PRESENT, Kind, Region, Span, Values, one_of, prefix
from polycast.model.scalar import Value, instant, number_of, to_string

LONGEST = 10_000  # steps; a longer filter is not worth the time, and its region is everything

_LEAST = math.nextafter(0.0, 1.0)
_TRUE_NUMBERS = (Span("number", None, -_LEAST), Span("number", _LEAST, None))
_FALSE_NUMBERS = (Span("number", 0, 0),)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Part(NamedTuple):
    """What is known of an operand: where it is true, where it is false, and what it is if it is simple.

    Attributes
    ----------
    axis
        Its name, where the operand is an attribute or a path.
    constant
        Its value, where it is nothing but that.
    """

    true: Region = EVERYTHING
    false: Region = EVERYTHING
    axis: str | None = None
    constant: Value | None = None


def region(expression: Expression) -> Region:
    """A region that holds every event which the expression accepts, and as few others as is easily said."""
    if len(expression.steps) > LONGEST:
        return EVERYTHING
    return fold(expression, _part).true


def _part(_: int, step: Step, operands: list[_Part]) -> _Part:
    kind, detail = step
    if kind == "const":
        return _Part(*_constant(detail), constant=detail)
    if kind in ("attr", "path"):
        name = detail if kind == "attr" else ".".join(detail)
        return _on(name, _booleans(True), _booleans(False))._replace(axis=name)
    if kind in _LOGIC:
        return _LOGIC[kind](*operands)
    if kind in _TESTS:
        return _TESTS[kind](detail)
    axis = next((operand.axis for operand in operands if operand.axis is not None), None)
    if axis is None:
        return _Part()
    if kind == "like" and axis == operands[0].axis:
        return _on(axis, _liked(detail), PRESENT)
    if kind == "in" and axis == operands[0].axis:
        return _contained(axis, operands[1:])
    if kind in _COMPARISONS and any(operand.constant is not None for operand in operands):
        return _compared(kind, axis, operands)
    return _Part()


def _on(axis: str, true: Values, false: Values) -> _Part:
    return _Part(Region.of({axis: true}), Region.of({axis: false}))


# ---- logic


def _not(operand: _Part) -> _Part:
    return _Part(operand.false, operand.true)


def _and(left: _Part, right: _Part) -> _Part:
    return _Part(left.true.intersection(right.true), left.false.union(right.false))


def _or(left: _Part, right: _Part) -> _Part:
    return _Part(left.true.union(right.true), left.false.intersection(right.false))


def _xor(left: _Part, right: _Part) -> _Part:
    unlike = left.true.intersection(right.false).union(left.false.intersection(right.true))
    return _Part(unlike, left.true.intersection(right.true).union(left.false.intersection(right.false)))


_LOGIC: dict[str, Callable[..., _Part]] = {
    "not": _not,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "quiet": lambda operand: _Part(operand.true),  # false wherever it fails, too
}


# ---- tests of an attribute that stands in the step itself


def _exists(path: tuple[str, ...]) -> _Part:
    return _on(".".join(path), PRESENT, ABSENT)


_TESTS: dict[str, Callable[[Any], _Part]] = {
    "exists": _exists,
    "exact": lambda detail: _Part(Region.of({detail[0]: one_of([detail[1]])})),
    "prefix": lambda detail: _Part(Region.of({detail[0]: prefix(detail[1])})),
    "suffix": lambda detail: _Part(Region.of({detail[0]: PRESENT})),
}


# ---- an attribute and constants


def _constant(value: Value) -> tuple[Region, Region]:
    try:
        return (EVERYTHING, NOTHING) if to_boolean(value) else (NOTHING, EVERYTHING)
    except Failure:
        return NOTHING, NOTHING


def _booleans(wanted: bool) -> Values:
    """The values that count as true, or as false: those numbers, and the word in any case."""
    word = to_string(wanted)
    capitals = Span("text", word.upper(), word.capitalize())
    small = Span("text", word[0] + word[1:].upper(), word)
    return Values((*(_TRUE_NUMBERS if wanted else _FALSE_NUMBERS), capitals, small))


def _liked(pattern: str) -> Values:
    """A pattern's literal beginning is a prefix; without wildcards it is all."""
    parts = pieces(pattern)
    first = parts[0] if parts and isinstance(parts[0], str) else ""
    if parts == ((first,) if first else ()):
        return one_of([first])
    return prefix(first) if first else (PRESENT if ANY in parts else Values((Span("text"),)))


def _contained(axis: str, elements: list[_Part]) -> _Part:
    """``IN``: each element is cast to the attribute's type."""
    found = Values(())
    for element in elements:
        if element.constant is None:
            return _on(axis, PRESENT, PRESENT)
        found = found.together(_cast_to_any(element.constant))
    return _on(axis, found, PRESENT)


def _compared(kind: str, axis: str, operands: list[_Part]) -> _Part:
    left, right = operands
    if right.constant is None:
        assert left.constant is not None
        equal, constant, kind = _cast_to_any(left.constant), left.constant, _MIRRORED.get(kind, kind)
    else:
        equal, constant = _cast_from_any(right.constant), right.constant
    if kind == "=":
        return _on(axis, equal, PRESENT)
    if kind == "!=":
        return _on(axis, PRESENT, equal)
    below, above = _ordered(constant, below=True), _ordered(constant, below=False)
    return _on(axis, below, above) if kind in ("<", "<=") else _on(axis, above, below)


_COMPARISONS = frozenset(("=", "!=", *_MIRRORED))


def _cast_from_any(constant: Value) -> Values:
    """The values that, cast to the constant's type, equal it."""
    if isinstance(constant, bool):
        return _booleans(constant)
    if isinstance(constant, str):
        return one_of([constant])
    return Values((Span("number", constant, constant),))


def _cast_to_any(constant: Value) -> Values:
    """The values that the constant equals once it is cast to their type."""
    texts = [to_string(constant)]
    with contextlib.suppress(Failure):
        texts.append(to_string(to_boolean(constant)))
    found = one_of(texts)
    number = _number(constant)
    return found if number is None else found.together(Values((Span("number", number, number),)))


def _ordered(constant: Value, below: bool) -> Values:
    """The values on one side of the constant, it included: numbers, and what else has an order with it."""
    ends: list[tuple[Kind, Any]] = [("number", _number(constant))]
    if isinstance(constant, str):
        ends += [("instant", instant(constant)), ("text", constant)]
    found = Values(())
    for kind, end in ends:
        if end is not None:
            found = found.together(Values((Span(kind, None, end) if below else Span(kind, end, None),)))
    return found


def _number(constant: Value) -> int | float | None:
    return number_of(constant) if isinstance(constant, str) else constant
