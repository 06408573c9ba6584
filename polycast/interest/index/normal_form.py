"""An expression as a Boolean program over atoms. An atom asks whether the key of a reading lies in an interval.

Everything that the language compares with constants becomes atoms; whatever else stands where a Boolean is wanted
becomes a term, whose value is read as true or false. So the program says exactly what the evaluator says: true,
false, or an error.

A bound is a number: ``2k+1`` is the key ``k`` itself, ``2k`` is what lies below it, ``2k+2`` what lies above.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from polycast.interest.cesql import Expression, Failure
from polycast.interest.cesql.expression import Step, arity
from polycast.interest.cesql.like import ANY, pieces
from polycast.interest.cesql.values import to_boolean
from polycast.interest.index import readings
from polycast.interest.index.vocabulary import Vocabulary
from polycast.model.scalar import Value, instant, number_of, to_string

AND, OR, NOT, XOR, QUIET, CONST = -1, -2, -3, -4, -5, -6
"""Instructions. AND and OR say how many operands they join, CONST what it says: false 0, true 1, an error 2."""

HIGHEST = 0x7FFF_FFFF  # no upper bound
LONGEST = 10_000  # steps; a longer expression is left to the evaluator as a whole

Code = list[int]
"""Instructions, operands before their operator: three numbers each. Of an atom, the reading and the two bounds."""

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LOGIC = {"and": AND, "or": OR, "xor": XOR}
_TRUE: Code = [CONST, 1, 0]
_FALSE: Code = [CONST, 0, 0]
_ERROR: Code = [CONST, 2, 0]

_ATTRIBUTE, _CONSTANT, _TERM, _BOOLEAN = range(4)
_Part = tuple[int, int, Any]
"""Of an operand: of which kind it is, the step where it begins, and its name, its value, or its code."""


class Inexact(Exception):
    """A number that no decimal of 64 bits equals; such a comparison is left to the evaluator."""


class NormalForm:
    """Turns expressions into programs. Keys are numbered for each reading as they come."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.keys: dict[int, dict[float | bytes, int]] = {}
        self._comparisons: dict[tuple[str, type, Value, str], Code] = {}

    def program(self, expression: Expression) -> Code:
        """The program that is true exactly where the expression accepts an event."""
        steps, strict = expression
        if len(steps) > LONGEST:
            return self._read((_TERM, 0, None), steps, len(steps), strict, "true")
        return self._accepts(self._walk(steps, strict), steps, len(steps), strict)

    def _walk(self, steps: tuple[Step, ...], strict: bool) -> _Part:
        """The whole expression as one part. What is commonest is looked for first."""
        parts: list[_Part] = []
        position, count = 0, len(steps)
        while position < count:
            kind, detail = steps[position]
            if kind == "attr":
                width, code = (1, None) if strict else self._commonest(detail, steps[position + 1 : position + 3])
                if code is None:
                    parts.append((_ATTRIBUTE, position, detail))
                else:
                    parts.append((_BOOLEAN, position, code))
                    position += width
            elif kind == "const":
                parts.append((_CONSTANT, position, detail))
            elif kind == "and" and parts[-1][0] == parts[-2][0] == _BOOLEAN:
                right, left = parts.pop()[2], parts[-1][2]
                _joined(AND, left, right)
            else:
                parts.append(self._part(steps, position, parts, strict))
            position += 1
        return parts[0]

    def _commonest(self, name: str, behind: tuple[Step, ...]) -> tuple[int, Code | None]:
        """An attribute against a constant or a pattern: how many more steps that takes, and the program."""
        if not behind:
            return 0, None
        kind, constant = behind[0]
        if kind == "like":
            return 1, self._remembered(name, constant, "like")
        if kind != "const" or len(behind) < 2 or behind[1][0] not in _COMPARES:
            return 0, None
        sign = behind[1][0]
        try:
            if constant.__class__ is str or constant.__class__ is bool or sign == "!=":
                return 2, self._remembered(name, constant, sign)
            return 2, self._atom(self.vocabulary.attribute(name, "number"), constant, sign)
        except Inexact:
            return 0, None

    def _remembered(self, name: str, constant: Value, sign: str) -> Code:
        asked = (name, constant.__class__, constant, sign)
        code = self._comparisons.get(asked)
        if code is None:
            ways = partial(self.vocabulary.attribute, name)
            if sign == "like":
                code = self._like(ways, str(constant))
            else:
                code = _COMPARES[sign](self, ways, constant, sign)
            self._comparisons[asked] = code
        return code.copy()

    def _part(self, steps: tuple[Step, ...], position: int, parts: list[_Part], strict: bool) -> _Part:
        count = arity(steps[position])
        operands = parts[len(parts) - count :] if count else []
        del parts[len(parts) - count :]
        start = operands[0][1] if operands else position
        ends = [operand[1] for operand in operands[1:]] + [position]
        asked = self._asked(steps, position, operands, ends, strict)
        return (_TERM, start, None) if asked is None else (_BOOLEAN, start, asked)

    def _asked(
        self, steps: tuple[Step, ...], position: int, operands: list[_Part], ends: list[int], strict: bool
    ) -> Code | None:
        """What a step asks, as a program; None if it is none of ours, and becomes a term."""
        kind, detail = steps[position]
        if kind in ("and", "or"):
            left = self._boolean(operands[0], steps, ends[0], strict)
            return _joined(_LOGIC[kind], left, self._boolean(operands[1], steps, ends[1], strict))
        if kind == "xor":
            left = self._boolean(operands[0], steps, ends[0], strict)
            return left + self._boolean(operands[1], steps, ends[1], strict) + [XOR, 2, 0]
        if kind == "not":
            return _negated(self._boolean(operands[0], steps, ends[0], strict))
        if kind == "quiet":
            return [*self._accepts(operands[0], steps, ends[0], strict), QUIET, 1, 0]
        if kind == "exists" and len(detail) == 1:
            return self._atom(self.vocabulary.attribute(detail[0], "exists"), 1, "=")
        if kind in ("exact", "prefix", "suffix"):
            name, text = detail
            return [*self._text_test(kind, partial(self.vocabulary.attribute, name), text), QUIET, 1, 0]
        if kind == "like" and operands[0][0] != _CONSTANT:
            return self._like(self._ways(operands[0], steps, ends[0], strict), detail)
        try:
            return self._compared(kind, steps, operands, ends, strict)
        except Inexact:
            return None

    def _compared(
        self, kind: str, steps: tuple[Step, ...], operands: list[_Part], ends: list[int], strict: bool
    ) -> Code | None:
        """A comparison of a term with constants. Plain CESQL has casts of its own, except to texts."""
        constants = [operand[0] == _CONSTANT for operand in operands]
        if kind == "in" and not constants[0] and all(constants[1:]) and not strict:
            ways = self._ways(operands[0], steps, ends[0], strict)
            code: Code = []
            for _, _, element in operands[1:]:
                found = self._cast_to(ways, element)
                code = _joined(OR, code, found) if code else found
            return code
        if kind not in _COMPARES or constants[0] == constants[1]:
            return None
        if constants[1]:
            constant = operands[1][2]
            if strict and not (isinstance(constant, str) and kind in ("=", "!=")):
                return None
            return _COMPARES[kind](self, self._ways(operands[0], steps, ends[0], strict), constant, kind)
        if strict:
            return None
        constant, ways = operands[0][2], self._ways(operands[1], steps, ends[1], strict)
        if kind in _MIRRORED:
            return self._ordered(ways, constant, _MIRRORED[kind])
        code = self._cast_to(ways, constant)
        return code if kind == "=" else _negated(code)

    def _ways(self, part: _Part, steps: tuple[Step, ...], end: int, strict: bool) -> Callable[[str], int]:
        """The readings of an operand, by their way."""
        start = part[1]
        return lambda way: self.vocabulary.term(steps[start:end], strict, way)

    def _boolean(self, part: _Part, steps: tuple[Step, ...], end: int, strict: bool) -> Code:
        """An operand of AND and its kin, which is cast to a Boolean."""
        if part[0] == _BOOLEAN:
            return cast(Code, part[2])
        if part[0] == _CONSTANT:
            try:
                return list(_TRUE if to_boolean(part[2]) else _FALSE)
            except Failure:
                return list(_ERROR)
        return self._read(part, steps, end, strict, "boolean")

    def _accepts(self, part: _Part, steps: tuple[Step, ...], end: int, strict: bool) -> Code:
        """A whole filter, which must be true as it stands."""
        if part[0] == _BOOLEAN:
            return cast(Code, part[2])
        if part[0] == _CONSTANT:
            return list(_TRUE if part[2] is True else _FALSE)
        return self._read(part, steps, end, strict, "true")

    def _read(self, part: _Part, steps: tuple[Step, ...], end: int, strict: bool, way: str) -> Code:
        return self._atom(self.vocabulary.term(steps[part[1] : end], strict, way), 1, "=")

    # ---- atoms

    def _key(self, reading: int, key: float | bytes) -> int:
        if not isinstance(key, bytes):
            near = float(key)
            if near != key:
                raise Inexact
            key = near
        known = self.keys.setdefault(reading, {})
        return known.setdefault(key, len(known))

    def _atom(self, reading: int, key: float | bytes, sign: str) -> Code:
        place = self._key(reading, key)
        if sign == "=":
            return [reading, 2 * place + 1, 2 * place + 1]
        if sign == "<":
            return [reading, 0, 2 * place]
        if sign == "<=":
            return [reading, 0, 2 * place + 1]
        return [reading, 2 * place + (2 if sign == ">" else 1), HIGHEST]

    def _equal(self, ways: Callable[[str], int], constant: Value, sign: str) -> Code:
        """``term = constant``: the term is cast to the constant's type."""
        if isinstance(constant, str):
            code = self._atom(ways("text"), readings.text_key(constant), "=")
        elif isinstance(constant, bool):
            code = self._atom(ways("boolean"), 1, "=")
            code = code if constant else [*code, NOT, 1, 0]
        else:
            code = self._atom(ways("number"), constant, "=")
        return code if sign == "=" else _negated(code)

    def _ordered(self, ways: Callable[[str], int], constant: Value, sign: str) -> Code:
        """``term < constant`` and its kin."""
        if not isinstance(constant, str):
            return self._atom(ways("number"), int(constant) if isinstance(constant, bool) else constant, sign)
        text, number, moment = readings.text_key(constant), number_of(constant), instant(constant)
        if number is not None:
            first = self._atom(ways("number or false"), number, sign)
            return _joined(OR, first, self._atom(ways("no number"), text, sign))
        if moment is not None:
            first = self._atom(ways("instant"), readings.instant_key(moment), sign)
            return _joined(OR, first, self._atom(ways("no instant"), text, sign))
        return self._atom(ways("word"), text, sign)

    def _cast_to(self, ways: Callable[[str], int], constant: Value) -> Code:
        """``constant = term``, and each element of IN: the constant is cast to the type of the term's value."""
        number = readings.number(constant)
        truth: bool | None
        try:
            truth = to_boolean(constant)
        except Failure:
            truth = None
        way = "word" + (", number" if number is not None else "") + (", boolean" if truth is not None else "")
        code = self._atom(ways(way), readings.text_key(to_string(constant)), "=")
        if number is not None:
            code = _joined(OR, code, self._atom(ways("only number"), number, "="))
        if truth is not None:
            code = _joined(OR, code, self._atom(ways("only true" if truth else "only false"), 1, "="))
        return code

    def _like(self, ways: Callable[[str], int], pattern: str) -> Code:
        """A pattern, together with the beginning and the end that it asks for, which are found sooner."""
        match pieces(pattern):
            case ():
                return self._text_test("exact", ways, "")
            case (str(text),):
                return self._text_test("exact", ways, text)
            case (str(text), int(wildcard)) if wildcard == ANY:
                return self._text_test("prefix", ways, text)
            case (int(wildcard), str(text)) if wildcard == ANY:
                return self._text_test("suffix", ways, text)
            case parts:
                code = self._atom(ways(readings.LIKE + pattern), 1, "=")
                if isinstance(parts[-1], str):
                    code = _joined(AND, self._text_test("suffix", ways, parts[-1]), code)
                if isinstance(parts[0], str):
                    code = _joined(AND, self._text_test("prefix", ways, parts[0]), code)
                return code

    def _text_test(self, kind: str, ways: Callable[[str], int], text: str) -> Code:
        if kind == "exact":
            return self._atom(ways("text"), readings.text_key(text), "=")
        reading = ways("text" if kind == "prefix" else "reversed")
        key = readings.text_key(text if kind == "prefix" else text[::-1])
        if not key:
            return [reading, 0, HIGHEST]
        # No text goes beyond a prefix and the byte 255 behind it: UTF-8 has no such byte.
        return [reading, 2 * self._key(reading, key) + 1, 2 * self._key(reading, key + b"\xff")]


_COMPARES: dict[str, Callable[[NormalForm, Callable[[str], int], Value, str], Code]] = {
    "=": NormalForm._equal,
    "!=": NormalForm._equal,
    **dict.fromkeys(_MIRRORED, NormalForm._ordered),
}


def _negated(code: Code) -> Code:
    return [*code, NOT, 1, 0]


def _joined(operator: int, left: Code, right: Code) -> Code:
    """Put an operator behind two operands, into the first. Chains of one operator are one instruction, which goes
    from left to right until an operand decides."""
    count = 2
    if left[-3] == operator:
        count = left[-2] + 1
        del left[-3:]
    left += right
    left += (operator, count, 0)
    return left
