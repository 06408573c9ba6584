"""A parsed expression: steps in the order of evaluation, operands before their operator.

Nothing that handles an expression has to recurse, however deeply it is nested.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

# ("const", value)   ("attr", name)   ("path", (key, ...))   ("exists", (key, ...))
# ("not", None)   ("neg", None)   ("and", None)   ("or", None)   and so on for every operator of two operands
# ("like", pattern)   ("in", number of elements)   ("call", (NAME, number of arguments))
# Only in what the other filter dialects become (``interest.dialects``):
# ("exact", (name, text))   ("prefix", (name, text))   ("suffix", (name, text))   ("quiet", None)
Step = tuple[str, Any]

Made = TypeVar("Made")

_ARITIES = {
    **dict.fromkeys(("const", "attr", "path", "exists", "exact", "prefix", "suffix"), 0),
    **dict.fromkeys(("not", "neg", "like", "quiet"), 1),
}


class Expression(NamedTuple):
    """A parsed expression; ``strict`` for plain CESQL, else in the superset."""

    steps: tuple[Step, ...]
    strict: bool


def arity(step: Step) -> int:
    """How many operands a step takes."""
    kind, detail = step
    if kind == "in":
        return int(detail) + 1
    return int(detail[1]) if kind == "call" else _ARITIES.get(kind, 2)


def fold(expression: Expression, make: Callable[[int, Step, list[Made]], Made]) -> Made:
    """What the whole becomes, where each step is made of its position, itself, and what its operands became."""
    made: list[Made] = []
    for position, step in enumerate(expression.steps):
        operands: list[Made] = []
        if count := arity(step):
            operands = made[-count:]
            del made[-count:]
        made.append(make(position, step, operands))
    [whole] = made
    return whole
