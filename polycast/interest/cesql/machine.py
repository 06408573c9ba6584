"""Evaluate an expression step by step, with a stack of its own: slower than closures, and at home at any depth."""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from polycast.interest.cesql.expression import Expression, Step, fold
from polycast.interest.cesql.functions import caller, find, table
from polycast.interest.cesql.like import matcher
from polycast.interest.cesql.operators import TEXT_TESTS, binaries, unaries
from polycast.interest.cesql.values import LONGEST_STRING, Dialect, Failure, to_boolean
from polycast.model.scalar import Value, lookup, to_string


class Machine:
    """An expression, made ready for evaluation."""

    def __init__(self, expression: Expression, dialect: Dialect) -> None:
        self.steps = expression.steps
        self.dialect = dialect
        self.binaries = binaries(dialect)
        self.unaries = unaries(dialect)
        self.functions = table(dialect)
        self.shortcuts, self.quiet, self.dead_ends = _landmarks(expression, self.functions)
        self.quiet_starts = sorted(self.quiet)

    def run(self, attributes: Mapping[str, Any]) -> Value:
        """The value, or ``Failure``."""
        stack: list[Value] = []
        position = height = made = 0
        while position < len(self.steps):
            if position in self.quiet:
                height = len(stack)
            try:
                position = self.advance(position, stack, attributes)
                made += self.made(position, stack)
                if made > LONGEST_STRING:
                    raise Failure("functionEvaluation")
            except Failure:
                end = self.quiet_end(position)
                if end is None:
                    raise
                del stack[height:]
                stack.append(False)
                position = end
            position += 1
        return stack[0]

    def advance(self, position: int, stack: list[Value], attributes: Mapping[str, Any]) -> int:
        """Take one step, or the shortcut in front of it; the position of the last step that is done with."""
        shortcut = self.shortcuts.get(position)
        if shortcut is not None and self.is_decided(shortcut[0], stack):
            return shortcut[1]
        if position in self.dead_ends:
            raise Failure("missingFunction")
        self.take(position, stack, attributes)
        return position

    def made(self, position: int, stack: list[Value]) -> int:
        """How many characters a step has made: functions in functions could go on and on."""
        value = stack[-1]
        return len(value) if self.steps[position][0] == "call" and isinstance(value, str) else 0

    def quiet_end(self, position: int) -> int | None:
        """The end of the quiet operand within which a step stands. They are never nested."""
        before = bisect_right(self.quiet_starts, position)
        end = self.quiet[self.quiet_starts[before - 1]] if before else -1
        return end if end >= position else None

    def is_decided(self, kind: str, stack: list[Value]) -> bool:
        """Whether the operator has its value without what follows; then the stack holds it."""
        if kind == "in":
            element = stack.pop()
            if not self.binaries["="](element, stack[-1]):
                return False
            stack[-1] = True
            return True
        stack[-1] = to_boolean(stack[-1])
        return stack[-1] is (kind == "or")

    def take(self, position: int, stack: list[Value], attributes: Mapping[str, Any]) -> None:
        kind, detail = self.steps[position]
        if kind == "const":
            stack.append(detail)
        elif kind in ("attr", "path"):
            path = (detail,) if kind == "attr" else detail
            value = self.dialect.attribute(lookup(attributes, path))
            if value is None:
                raise Failure("missingAttribute")
            stack.append(value)
        elif kind == "exists":
            stack.append(lookup(attributes, detail) is not None)
        elif kind in self.unaries:
            stack.append(self.unaries[kind](stack.pop()))
        elif kind == "quiet":
            stack[-1] = stack[-1] is True
        elif kind in TEXT_TESTS:
            name, wanted = detail
            found = self.dialect.attribute(attributes.get(name))
            stack.append(found is not None and TEXT_TESTS[kind](to_string(found), wanted))
        elif kind == "like":
            stack.append(matcher(detail)(to_string(stack.pop())))
        elif kind == "in":
            stack[-1] = False  # none of the elements was equal, or the shortcut would have been taken
        elif kind == "call":
            self.call(position, detail[0], detail[1], stack)
        elif kind in ("and", "or"):
            right = stack.pop()
            stack[-1] = to_boolean(right)  # the left operand has decided nothing
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(self.binaries[kind](left, right))

    def call(self, position: int, name: str, count: int, stack: list[Value]) -> None:
        function = find(self.functions, name, count)
        assert function is not None  # or its arguments would have been a dead end
        arguments = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        try:
            stack.append(caller(function, count, self.dialect)(*arguments))
        except Failure as failure:
            failure.step = position
            raise


def _landmarks(
    expression: Expression, functions: Mapping[str, Any]
) -> tuple[dict[int, tuple[str, int]], dict[int, int], set[int]]:
    """Places among the steps.

    Before which an operator may be decided already, and its own place; where quiet operands start, and end; where
    the calls of functions start that are not there.
    """
    shortcuts: dict[int, tuple[str, int]] = {}
    quiet: dict[int, int] = {}
    dead_ends: set[int] = set()

    def mark(position: int, step: Step, starts: list[int]) -> int:
        kind, detail = step
        start = starts[0] if starts else position
        if kind in ("and", "or"):
            shortcuts[starts[1]] = (kind, position)
        elif kind == "in":
            for end in (*starts[2:], position):
                shortcuts[end] = ("in", position)
        elif kind == "quiet":
            quiet[start] = position
        elif kind == "call" and find(functions, *detail) is None:
            dead_ends.add(start)
        return start

    fold(expression, mark)
    return shortcuts, quiet, dead_ends
