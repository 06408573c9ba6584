"""Compile an expression to nested Python closures: the fast way to evaluate all but deeply nested ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polycast.interest.cesql.expression import Expression, Step, fold
from polycast.interest.cesql.functions import caller, find, table
from polycast.interest.cesql.like import matcher
from polycast.interest.cesql.operators import TEXT_TESTS, binaries, unaries, with_constant
from polycast.interest.cesql.values import SUPERSET, Dialect, Failure, to_boolean
from polycast.model.scalar import Value, lookup, to_string

Attributes = Mapping[str, Any]
Compute = Callable[[Attributes], Value]

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
    return fold(expression, _Compiler(dialect).part).compute


class _Compiler:
    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.binaries = binaries(dialect)
        self.unaries = unaries(dialect)
        self.functions = table(dialect)

    def part(self, position: int, step: Step, operands: list[_Part]) -> _Part:
        """Compile one step."""
        kind, detail = step
        if not operands and kind != "call":
            return self.leaf(kind, detail)
        if kind in ("and", "or"):
            part = _connected(kind, *operands)
        else:
            part = _Part(self.operator(position, step, operands), _depth(operands))
        if part.depth > DEEPEST:
            raise TooDeep
        return part

    def leaf(self, kind: str, detail: Any) -> _Part:
        if kind == "attr":
            return _Part(_attribute(detail, self.dialect), 1, attribute=detail)
        if kind == "const":
            return _Part(lambda _: detail, 1, constant=detail)
        if kind == "path":
            return _Part(_path(detail, self.dialect), 1)
        if kind == "exists":
            return _Part(_exists(detail), 1)
        return _Part(_text_test(kind, *detail), 1)

    def operator(self, position: int, step: Step, operands: list[_Part]) -> Compute:
        kind, detail = step
        if kind in self.binaries:
            return self.binary(kind, *operands)
        computes = [operand.compute for operand in operands]
        if kind in self.unaries:
            return _unary(self.unaries[kind], *computes)
        if kind == "quiet":
            return _quiet(*computes)
        if kind == "like":
            return _like(matcher(detail), *computes)
        if kind == "in":
            return _contained(computes[0], operands[1:], self.binaries["="])
        return self.call(position, computes, *detail)

    def call(self, position: int, arguments: list[Compute], name: str, count: int) -> Compute:
        function = find(self.functions, name, count)
        if function is None:
            return _missing_function
        return _call(caller(function, count, self.dialect), arguments, position)

    def binary(self, kind: str, left: _Part, right: _Part) -> Compute:
        if kind == "=" and left.attribute is not None and isinstance(right.constant, str):
            return _equals_text(left.attribute, right.constant, left.compute)
        if right.constant is not None:
            return _unary(with_constant(self.dialect, kind, right.constant), left.compute)
        work, first, second = self.binaries[kind], left.compute, right.compute
        return lambda attributes: work(first(attributes), second(attributes))


def _depth(operands: list[_Part]) -> int:
    """How deep an operator over these is."""
    return 1 + max([operand.depth for operand in operands]) if operands else 1


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


def _like(matches: Callable[[str], bool], read: Compute) -> Compute:
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
