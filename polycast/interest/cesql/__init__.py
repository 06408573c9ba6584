"""CESQL, the CloudEvents SQL expression language 1.0, and the superset of it that subscriptions are written in."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from polycast.interest.cesql.closures import Compute, TooDeep, compiled
from polycast.interest.cesql.expression import Expression
from polycast.interest.cesql.functions import find, table
from polycast.interest.cesql.machine import Machine
from polycast.interest.cesql.parser import ParseError, parse
from polycast.interest.cesql.values import PLAIN, SUPERSET, Failure
from polycast.model.scalar import Value

__all__ = ["Expression", "Failure", "ParseError", "Program", "Result", "Value", "evaluate", "parse", "program"]


REMEMBERED = 2048  # expressions that stay compiled between two evaluations


class Result(NamedTuple):
    """What an expression gives.

    Attributes
    ----------
    value
        Always there: after an error the zero of the expression's type, or what the function that failed says.
    error
        None, ``parse``, ``math``, ``cast``, ``missingFunction``, ``missingAttribute``, ``functionEvaluation`` or
        ``generic``: the first that occurred.
    """

    value: Value
    error: str | None = None


class Program:
    """An expression that is ready to be evaluated, again and again."""

    __slots__ = ("compute", "expression", "zero")

    def __init__(self, expression: Expression) -> None:
        dialect = PLAIN if expression.strict else SUPERSET
        self.expression = expression
        self.zero = _zero(expression)
        try:
            self.compute: Compute = compiled(expression, dialect)
        except TooDeep:
            self.compute = Machine(expression, dialect).run

    def evaluate(self, attributes: Mapping[str, Any]) -> Result:
        """Never raises."""
        try:
            return Result(self.compute(attributes))
        except Failure as failure:
            value = self.zero
            if failure.value is not None and failure.step == len(self.expression.steps) - 1:
                value = failure.value
            return Result(value, failure.kind)

    def accepts(self, attributes: Mapping[str, Any]) -> bool:
        """As a filter: true, and without an error."""
        try:
            return self.compute(attributes) is True
        except Failure:
            return False


def evaluate(
    expression: str | Expression | Program, attributes: Mapping[str, Any], *, strict: bool = True
) -> Result:
    """The value of an expression for an event with these attributes, and the error if one occurred.

    Parameters
    ----------
    expression
        Its text, or what ``parse`` or ``program`` made of it (``strict`` was decided then).
    attributes
        By name; the payload, which the superset's paths lead into, as ``data``.
    strict
        CESQL 1.0 as it stands; else the superset.
    """
    try:
        ready = _ready(expression, strict)
    except ParseError:
        return Result(False, "parse")
    return ready.evaluate(attributes)


def program(text: str, strict: bool = True) -> Program:
    """Parse and compile an expression; ``ParseError`` if it is none. The last ones are remembered."""
    return _remembered(text, strict) if len(text) < 4096 else Program(parse(text, strict))


def _ready(expression: object, strict: bool) -> Program:
    """The program of whatever stands for an expression; ``ParseError`` if it does not."""
    match expression:
        case str():
            return program(expression, strict)
        case Program():
            return expression
        case Expression():
            return _compiled(expression)
    raise ParseError(1, f"{type(expression).__name__} is no text")


@lru_cache(maxsize=REMEMBERED)
def _remembered(text: str, strict: bool) -> Program:
    return Program(parse(text, strict))


# By identity, because equal is not the same here: the steps of `1` and of `TRUE` are equal to Python.
_programs: dict[int, Program] = {}


def _compiled(expression: Expression) -> Program:
    """The program of an expression, which may have been asked for before; it keeps the expression alive."""
    ready = _programs.get(id(expression))
    if ready is None:
        if len(_programs) >= REMEMBERED:
            _programs.clear()
        ready = _programs[id(expression)] = Program(expression)
    return ready


_ARITHMETIC = frozenset(("neg", "+", "-", "*", "/", "%"))


def _zero(expression: Expression) -> Value:
    """The zero of the type that the outermost operator or function answers; Boolean where that is not known."""
    kind, detail = expression.steps[-1]
    if kind != "call":
        return 0 if kind in _ARITHMETIC else False
    function = find(table(PLAIN), *detail)
    return function.zero if function is not None else False
