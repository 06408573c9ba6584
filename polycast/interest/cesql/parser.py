"""From the text of an expression to its steps. What is allowed stands in ``cesql.lark``; this reads the same."""

import re
from collections.abc import Iterator

from polycast.errors import BadInput
from polycast.interest.cesql.expression import Expression, Step
from polycast.interest.cesql.like import LONGEST_GAPPED, is_bearable


class ParseError(BadInput):
    """The text is not an expression; the message names the column."""

    def __init__(self, column: int, why: str) -> None:
        super().__init__(f"column {column}", why)
        self.column = column


_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
_OPERATOR = r"<=|>=|<>|!=|[=<>+\-*/%]"
_BRACKET = r"[(),]"
_WORD = r"[A-Za-z0-9_]++"
_TOKENS = rf"[ \t\r\n]*+(?:({_WORD})|({_OPERATOR})|({_BRACKET})|({_STRING})|(\Z)|(.))"
_WIDER_WORD = r"data(?:\.[A-Za-z0-9_]++)++|[0-9]++\.[0-9]++(?![A-Za-z_0-9.])|" + _WORD

_PLAIN_TOKEN = re.compile(_TOKENS, re.DOTALL)
_WIDER_TOKEN = re.compile(_TOKENS.replace(_WORD, _WIDER_WORD), re.DOTALL)

_NAME = re.compile(r"[A-Za-z0-9]+")
_FUNCTION = re.compile(r"[A-Za-z][A-Za-z_]*")
_DECIMAL = re.compile(r"[0-9]+\.[0-9]+")

_WORD_KIND, _OPERATOR_KIND, _BRACKET_KIND, _STRING_KIND, _END_KIND, _STRAY_KIND = 1, 2, 3, 4, 5, 6

_LOGIC, _COMPARISON, _SUM, _PRODUCT, _TEST, _SIGN = 1, 2, 3, 4, 5, 6
_PRECEDENCE = {
    **dict.fromkeys(("=", "!=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys("*/%", _PRODUCT),
}
_KEYWORDS = frozenset(("and", "or", "xor", "not", "like", "in", "exists", "true", "false"))
_BOOLEANS: dict[str, Step] = {"true": ("const", True), "false": ("const", False)}

# On the stack of what is not finished yet: the precedence, and the step to emit. An open bracket has precedence 0,
# and the step for which it was opened.
_Open = tuple[int, Step]
_GROUP: Step = ("group", None)


def parse(text: str, strict: bool = True) -> Expression:
    """Read an expression; ``ParseError`` if it is none."""
    reader = _Reader(text, strict)
    reader.read()
    return Expression(tuple(reader.steps), strict)


class _Reader:
    """Operator precedence, with a stack of its own: operands are emitted at once, operators once complete."""

    def __init__(self, text: str, strict: bool) -> None:
        self.strict = strict
        self.steps: list[Step] = []
        self.open: list[_Open] = []
        self.counts: list[int] = []  # arguments so far in each bracket that is open
        self.tokens: Iterator[re.Match[str]] = (_PLAIN_TOKEN if strict else _WIDER_TOKEN).finditer(text)
        self.token = next(self.tokens)

    def read(self) -> None:
        while True:
            self.read_operand()
            if not self.read_operators():
                return

    def advance(self) -> re.Match[str]:
        token = self.token
        self.token = next(self.tokens, token)
        return token

    def read_operand(self) -> None:
        """Signs, negations and open brackets, up to one value."""
        while True:
            token = self.advance()
            kind = token.lastindex
            if kind == _WORD_KIND:
                if self.read_word(token):
                    return
            elif kind == _STRING_KIND:
                self.steps.append(("const", _unquoted(token[4])))
                return
            elif kind == _BRACKET_KIND and token[3] == "(":
                self.open_bracket(_GROUP)
            elif kind == _OPERATOR_KIND and token[2] in "+-":
                if self.sign(token):
                    return
            else:
                raise self.fault(token, "an operand")

    def read_word(self, token: re.Match[str]) -> bool:
        """A keyword, a function's name with its bracket, or a value. True if the operand is complete."""
        word = token[1].lower()
        if word not in _KEYWORDS:
            if self.token[3] == "(":
                return self.open_call(token)
            self.steps.append(self.value(token, ""))
        elif word == "not":
            self.open.append((_SIGN, ("not", None)))
            return False
        elif word == "exists":
            self.steps.append(("exists", self.exists_path()))
        elif word in _BOOLEANS:
            self.steps.append(_BOOLEANS[word])
        else:
            raise self.fault(token, "an operand")
        return True

    def sign(self, token: re.Match[str]) -> bool:
        """A sign in front of digits belongs to them; another minus is an operator, and another plus an error."""
        follower = self.token
        if (
            follower.lastindex == _WORD_KIND
            and follower.start() == token.end()
            and follower.start() == follower.start(1)
        ):
            word = follower[1]
            if (word.isdecimal() and word.isascii()) or _DECIMAL.fullmatch(word):
                self.steps.append(self.value(self.advance(), token[2]))
                return True
        if token[2] == "+":
            raise self.fault(token, "an operand")
        self.open.append((_SIGN, ("neg", None)))
        return False

    def read_operators(self) -> bool:
        """What follows a value, up to an operator that wants another value. False at the end."""
        while True:
            token = self.advance()
            kind = token.lastindex
            if kind == _OPERATOR_KIND:
                sign = token[2]
                self.push(_PRECEDENCE[sign], ("!=" if sign == "<>" else sign, None))
                return True
            if kind == _WORD_KIND:
                word = token[1].lower()
                if word in ("and", "or", "xor"):
                    self.push(_LOGIC, (word, None))
                    return True
                if self.read_test(token, word):
                    return True
            elif kind == _BRACKET_KIND:
                if self.read_bracket(token):
                    return True
            elif kind == _END_KIND:
                self.reduce(1)
                if self.open:
                    raise self.fault(token, "`)`, or an operator")
                return False
            else:
                raise self.fault(token, "an operator")

    def read_bracket(self, token: re.Match[str]) -> bool:
        """A closing bracket, or a comma between arguments or elements. True at a comma."""
        bracket = token[3]
        if bracket != "(":
            self.reduce(1)
        if bracket == "(" or not self.open or (bracket == "," and self.open[-1][1] is _GROUP):
            raise self.fault(token, "an operator")
        if bracket == ",":
            self.counts[-1] += 1
            return True
        self.close()
        return False

    def read_test(self, token: re.Match[str], word: str) -> bool:
        """LIKE and IN, negated or not. True if a set has been opened."""
        negated = word == "not"
        if negated:
            token = self.advance()
            word = (token[1] or "").lower()
        if word == "like":
            pattern = self.advance()
            if pattern.lastindex != _STRING_KIND:
                raise self.fault(pattern, "a pattern in quotes")
            self.reduce(_TEST)
            self.steps.append(("like", self.pattern(pattern)))
        elif word == "in":
            bracket = self.advance()
            if bracket[3] != "(":
                raise self.fault(bracket, "`(`")
            self.reduce(_TEST)
            self.open_bracket(("in", negated))
            return True
        else:
            raise self.fault(token, "LIKE or IN" if negated else "an operator")
        if negated:
            self.steps.append(("not", None))
        return False

    def push(self, precedence: int, step: Step) -> None:
        self.reduce(precedence)
        self.open.append((precedence, step))

    def open_bracket(self, step: Step) -> None:
        self.open.append((0, step))
        self.counts.append(1)

    def reduce(self, precedence: int) -> None:
        """Emit what binds at least as tightly: operators of one precedence go from left to right."""
        open_ = self.open
        while open_ and open_[-1][0] >= precedence:
            self.steps.append(open_.pop()[1])

    def open_call(self, token: re.Match[str]) -> bool:
        """A function's name and its bracket. True if there are no arguments, and the call is complete."""
        if not _FUNCTION.fullmatch(token[1]):
            raise self.fault(token, "a function's name (letters and `_`)")
        self.advance()
        name = token[1].upper()
        if self.token[3] == ")":
            self.advance()
            self.steps.append(("call", (name, 0)))
            return True
        self.open_bracket(("call", name))
        return False

    def close(self) -> None:
        _, (kind, detail) = self.open.pop()
        count = self.counts.pop()
        if kind == "call":
            self.steps.append(("call", (detail, count)))
        elif kind == "in":
            self.steps.append(("in", count))
            if detail:
                self.steps.append(("not", None))

    def exists_path(self) -> tuple[str, ...]:
        token = self.advance()
        if token.lastindex != _WORD_KIND or token[1].lower() in _KEYWORDS:
            raise self.fault(token, "an attribute's name")
        if token[1].isdecimal() and token[1].isascii():
            return (token[1],)
        kind, detail = self.value(token, "")
        if kind == "const":
            raise self.fault(token, "an attribute's name")
        return (detail,) if kind == "attr" else detail

    def value(self, token: re.Match[str], sign: str) -> Step:
        """A number, an attribute or a path."""
        word = token[1]
        if word.isdecimal() and word.isascii():
            return ("const", self.integer(token, sign))
        if _NAME.fullmatch(word):
            return ("attr", word.lower())
        if _DECIMAL.fullmatch(word):
            return ("const", float(sign + word))
        if "." in word:
            return ("path", tuple(word.split(".")))
        raise self.fault(token, "an attribute's name (letters and digits)")

    def pattern(self, token: re.Match[str]) -> str:
        pattern = _unquoted(token[4])
        if not is_bearable(pattern):
            raise ParseError(
                token.start(4) + 1, f"a pattern with `_` and more than {LONGEST_GAPPED} characters between two `%`"
            )
        return pattern

    def integer(self, token: re.Match[str], sign: str) -> int | float:
        digits = token[1].lstrip("0") or "0"
        if len(digits) < 19:
            number = int(sign + digits)
            if not self.strict or -0x8000_0000 <= number <= 0x7FFF_FFFF:
                return number
        if self.strict:
            raise ParseError(token.start(1) + 1, "an integer beyond 32 bits")
        number = int(sign + digits) if len(digits) < 20 else 1 << 64
        if -0x8000_0000_0000_0000 <= number <= 0x7FFF_FFFF_FFFF_FFFF:
            return number
        if len(digits) > 300:
            raise ParseError(token.start(1) + 1, "a number beyond all bounds")
        return float(sign + digits)

    def fault(self, token: re.Match[str], wanted: str) -> ParseError:
        kind = token.lastindex
        column = token.start(kind or 0) + 1
        if kind == _END_KIND:
            return ParseError(column, f"the expression ends where {wanted} should follow")
        if kind == _STRAY_KIND and token[6] in "'\"":
            return ParseError(column, "a string without its closing quote")
        return ParseError(column, f"{token[kind or 0]!r:.40} where {wanted} should stand")


def _unquoted(literal: str) -> str:
    """A string without its quotes; only the quote itself can be escaped, other backslashes stay."""
    quote, body = literal[0], literal[1:-1]
    if "\\" not in body:
        return body
    return re.sub(r"\\(.)", lambda found: found[1] if found[1] == quote else found[0], body, flags=re.DOTALL)
