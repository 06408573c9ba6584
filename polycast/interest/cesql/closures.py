"""Compile an expression to nested Python closures: the fast way to evaluate all but deeply nested ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polycast.interest.cesql.functions import caller, find, table
from polycast.interest.cesql.like import matcher
from polycast.interest.cesql.operators import binaries, unaries, with_constant
from polycast.interest.cesql.parser import Expression, Step
from polycast.interest.cesql.values import SUPERSET, Dialect, Failure, to_boolean
from polycast.model.scalar import Value, lookup, to_string

Attributes = Mapping[str, Any]
Compute = Callable[[Attributes], Value]

TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "exact": str.__eq__,
    "prefix": str.startswith,
    "suffix": str.endswith,
}

DEEPEST = 60  # closures call one another; beyond this the machine takes over


class TooDeep(Exception):
    """The expression is nested more deeply than closures may call one another."""


@dataclass(slots=True)
class _Part:
    """What has been compiled of an operand.

    Attributes
    ----------
    attribute
        Its name, where the operand is nothing but an attribute.
    constant
        Its value, where it is nothing but that; else None.
    chain
        The operands of a chain of ANDs, or of ORs, which one closure evaluates.
    """

    compute: Compute
    depth: int
    attribute: str | None = None
    constant: Value | None = None
    chain: tuple[str, list[Compute]] | None = None


def compiled(expression: Expression, dialect: Dialect) -> Compute:
    """One function that evaluates the expression, or raises ``Failure``; ``TooDeep`` if it cannot be made."""
    compiler = _Compiler(dialect)
    parts: list[_Part] = []
    for position, step in enumerate(expression.steps):
        parts.append(compiler.part(position, step, parts))
        if parts[-1].depth > DEEPEST:
            raise TooDeep
    return parts[0].compute


class _Compiler:
    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.binaries = binaries(dialect)
        self.unaries = unaries(dialect)
        self.functions = table(dialect)

    def part(self, position: int, step: Step, parts: list[_Part]) -> _Part:
        """Compile one step, taking its operands off the end of ``parts``."""
        kind, detail = step
        if kind == "const":
            return _Part(lambda _: detail, 1, constant=detail)
        if kind == "attr":
            return _Part(_attribute(detail, self.dialect), 1, attribute=detail)
        if kind == "path":
            return _Part(_path(detail, self.dialect), 1)
        if kind == "exists":
            return _Part(_exists(detail), 1)
        if kind in self.unaries:
            operand = parts.pop()
            return _Part(_unary(self.unaries[kind], operand.compute), operand.depth + 1)
        if kind in TEXT_TESTS:
            return _Part(_text_test(kind, *detail), 1)
        if kind == "quiet":
            operand = parts.pop()
            return _Part(_quiet(operand.compute), operand.depth + 1)
        if kind == "like":
            operand = parts.pop()
            return _Part(_like(matcher(detail), operand), operand.depth + 1)
        if kind == "in":
            operand, *elements = taken = _taken(parts, detail + 1)
            return _Part(_contained(operand.compute, elements, self.binaries["="]), _depth(taken))
        if kind == "call":
            return self.call(position, parts, *detail)
        left, right = taken = _taken(parts, 2)
        if kind in ("and", "or"):
            return _connected(kind, left, right)
        return _Part(self.binary(kind, left, right), _depth(taken))

    def call(self, position: int, parts: list[_Part], name: str, count: int) -> _Part:
        arguments = _taken(parts, count)
        function = find(self.functions, name, count)
        if function is None:
            return _Part(_missing_function, _depth(arguments))
        body = caller(function, count, self.dialect)
        return _Part(_call(body, [argument.compute for argument in arguments], position), _depth(arguments))

    def binary(self, kind: str, left: _Part, right: _Part) -> Compute:
        if kind == "=" and left.attribute is not None and isinstance(right.constant, str):
            return _equals_text(left.attribute, right.constant, left.compute)
        if right.constant is not None:
            return _unary(with_constant(self.dialect, kind, right.constant), left.compute)
        work, first, second = self.binaries[kind], left.compute, right.compute
        return lambda attributes: work(first(attributes), second(attributes))


def _taken(parts: list[_Part], count: int) -> list[_Part]:
    taken = parts[len(parts) - count :]
    del parts[len(parts) - count :]
    return taken


def _depth(operands: list[_Part]) -> int:
    """How deep an operator over these is."""
    return max((operand.depth for operand in operands), default=0) + 1


def _attribute(name: str, dialect: Dialect) -> Compute:
    wide = dialect.attribute

    def read(attributes: Attributes) -> Value:
        value: Value | None = attributes.get(name)
        if value.__class__ is str or value.__class__ is bool:
            return value
        known = wide(value)
        if known is None:
            raise Failure("missingAttribute")
        return known

    return read


def _path(path: tuple[str, ...], dialect: Dialect) -> Compute:
    wide = dialect.attribute

    def read(attributes: Attributes) -> Value:
        value = wide(lookup(attributes, path))
        if value is None:
            raise Failure("missingAttribute")
        return value

    return read


def _exists(path: tuple[str, ...]) -> Compute:
    if len(path) == 1:
        [name] = path
        return lambda attributes: attributes.get(name) is not None
    return lambda attributes: lookup(attributes, path) is not None


def _unary(work: Callable[[Value], Value], operand: Compute) -> Compute:
    return lambda attributes: work(operand(attributes))


def _equals_text(name: str, wanted: str, read: Compute) -> Compute:
    """The commonest test of all."""

    def equal(attributes: Attributes) -> bool:
        value = attributes.get(name)
        if value.__class__ is str:
            return bool(value == wanted)
        return to_string(read(attributes)) == wanted

    return equal


def _like(matches: Callable[[str], bool], operand: _Part) -> Compute:
    read = operand.compute

    def like(attributes: Attributes) -> bool:
        value = read(attributes)
        return matches(value if value.__class__ is str else to_string(value))

    return like


def _text_test(kind: str, name: str, wanted: str) -> Compute:
    """What the plain filter dialects ask; an attribute that is missing fails the test, and is no error."""
    test = TEXT_TESTS[kind]

    def tested(attributes: Attributes) -> bool:
        value = SUPERSET.attribute(attributes.get(name))
        return value is not None and test(to_string(value), wanted)

    return tested


def _quiet(operand: Compute) -> Compute:
    """A filter within filters: accepts or not, and keeps its errors to itself."""

    def accepts(attributes: Attributes) -> bool:
        try:
            return operand(attributes) is True
        except Failure:
            return False

    return accepts


def _contained(operand: Compute, elements: list[_Part], equal: Callable[[Value, Value], Value]) -> Compute:
    computes = [element.compute for element in elements]

    def contained(attributes: Attributes) -> bool:
        x = operand(attributes)
        return any(equal(compute(attributes), x) for compute in computes)

    constants = [element.constant for element in elements if element.constant is not None]
    if len(constants) < len(elements):
        return contained
    texts = frozenset(map(to_string, constants))

    def contained_in_constants(attributes: Attributes) -> bool:
        x = operand(attributes)
        return x in texts if x.__class__ is str else any(equal(constant, x) for constant in constants)

    return contained_in_constants


def _missing_function(_: Attributes) -> Value:
    """Nothing is evaluated for a function that is not there."""
    raise Failure("missingFunction")


def _call(body: Callable[..., Value], arguments: list[Compute], position: int) -> Compute:
    if len(arguments) == 1:
        [argument] = arguments

        def call_of_one(attributes: Attributes) -> Value:
            value = argument(attributes)
            try:
                return body(value)
            except Failure as failure:
                failure.step = position
                raise

        return call_of_one

    def call(attributes: Attributes) -> Value:
        values = [argument(attributes) for argument in arguments]
        try:
            return body(*values)
        except Failure as failure:
            failure.step = position
            raise

    return call


def _connected(kind: str, left: _Part, right: _Part) -> _Part:
    """A chain of one operator is one closure, however long, so that only real nesting is deep."""
    if left.chain is not None and left.chain[0] == kind:
        operands, depth = left.chain[1], max(left.depth, right.depth + 1)
    else:
        operands, depth = [left.compute], _depth([left, right])
    operands.append(right.compute)
    return _Part((_all if kind == "and" else _any)(operands), depth, chain=(kind, operands))


def _all(operands: list[Compute]) -> Compute:
    def conjunction(attributes: Attributes) -> bool:
        for operand in operands:
            value = operand(attributes)
            if value is False or (value is not True and not to_boolean(value)):
                return False
        return True

    return conjunction


def _any(operands: list[Compute]) -> Compute:
    def disjunction(attributes: Attributes) -> bool:
        for operand in operands:
            value = operand(attributes)
            if value is True or (value is not False and to_boolean(value)):
                return True
        return False

    return disjunction
