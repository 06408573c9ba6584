"""CESQL 1.0 evaluated the slow and obvious way: down the tree of the grammar, a rule of the text at a time.

Shares nothing with the product but the grammar. Plain CESQL only, on events whose attributes are valid.
"""

from typing import Any

from lark import Token, Tree

from tests.oracles.cesql import like, parse_by_grammar, tree_of, unquoted

Value = str | int | bool

ZEROS: dict[str, Value] = {
    "LENGTH": 0, "ABS": 0, "INT": 0, "BOOL": False, "CONCAT": "", "CONCAT_WS": "", "LOWER": "", "UPPER": "",
    "TRIM": "", "LEFT": "", "RIGHT": "", "SUBSTRING": "", "STRING": "",
}  # fmt: skip


class Wrong(Exception):
    """An error, and the value of the subexpression that met it."""

    def __init__(self, kind: str, value: Value) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


def evaluate(text: str, attributes: dict[str, Any]) -> tuple[Value, str | None]:
    tree = tree_of(text)
    if tree is None or parse_by_grammar(text, strict=True) is None:
        return False, "parse"
    try:
        return walk(tree, attributes), None
    except Wrong as wrong:
        return wrong.value, wrong.kind


def walk(tree: Tree[Token], attributes: dict[str, Any]) -> Value:
    """An error in an operand is an error of the whole, with the zero of the whole's type (3.2, 3.3, 4.1)."""
    inner = [child for child in tree.children if isinstance(child, Tree)]
    words = [str(child) for child in tree.children if isinstance(child, Token)]
    match tree.data:
        case "number":
            return int(words[0])
        case "string":
            return unquoted(words[0])
        case "boolean":
            return words[0].lower() == "true"
        case "attribute":
            if words[0].lower() not in attributes:
                raise Wrong("missingAttribute", False)
            return attributes[words[0].lower()]  # type: ignore[no-any-return]
        case "exists":
            return words[1].lower() in attributes
        case "call":
            return call(words[0].upper(), inner[0].children if inner else [], attributes)
    zero: Value = 0 if tree.data == "minus" or (tree.data == "binary" and words[0] in "+-*/%") else False
    try:
        return operate(str(tree.data), words, inner, attributes)
    except Wrong as wrong:
        raise Wrong(wrong.kind, zero) from None


def operate(kind: str, words: list[str], inner: list[Tree[Token]], attributes: dict[str, Any]) -> Value:
    x = walk(inner[0], attributes)
    if kind == "negation":
        return not boolean(x)
    if kind == "minus":
        return bounded(-integer(x))
    if kind == "like":
        return like(string(x), unquoted(words[-1])) != (words[0].upper() == "NOT")
    if kind == "contained":
        found = any(cast(walk(y, attributes), x) == x for y in inner[1].children)  # type: ignore[arg-type]
        return found != (words[0].upper() == "NOT")
    sign = words[0].upper()
    if sign in ("AND", "OR") and boolean(x) == (sign == "OR"):
        return boolean(x)
    return combine(sign, x, walk(inner[1], attributes))


def combine(sign: str, x: Value, y: Value) -> Value:
    match sign:
        case "AND" | "OR":
            return boolean(y)
        case "XOR":
            return boolean(x) != boolean(y)
        case "=":
            return cast(x, y) == y
        case "!=" | "<>":
            return cast(x, y) != y
    a, b = integer(x), integer(y)
    match sign:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "+":
            return bounded(a + b)
        case "-":
            return bounded(a - b)
        case "*":
            return bounded(a * b)
    if b == 0:
        raise Wrong("math", 0)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return bounded(quotient if sign == "/" else a - b * quotient)


def call(name: str, arguments: list[Any], attributes: dict[str, Any]) -> Value:
    count = len(arguments)
    most = {"CONCAT": 10**9, "CONCAT_WS": 10**9, "LEFT": 2, "RIGHT": 2, "SUBSTRING": 3}.get(name, 1)
    least = {"CONCAT": 0, "CONCAT_WS": 1, "LEFT": 2, "RIGHT": 2, "SUBSTRING": 2}.get(name, 1)
    if name not in ZEROS or not least <= count <= most:
        raise Wrong("missingFunction", False)
    try:
        values = [walk(argument, attributes) for argument in arguments]
        if name in ("INT", "ABS"):
            numbers = [integer(values[0])]
        elif name == "BOOL":
            return boolean(values[0])
        elif name in ("LEFT", "RIGHT", "SUBSTRING"):
            numbers = [integer(value) for value in values[1:]]
        else:
            numbers = []
    except Wrong as wrong:
        raise Wrong(wrong.kind, ZEROS[name]) from None
    return apply(name, [string(value) for value in values], numbers)


def apply(name: str, texts: list[str], numbers: list[int]) -> Value:
    match name:
        case "LENGTH":
            return len(texts[0])
        case "CONCAT":
            return "".join(texts)
        case "CONCAT_WS":
            return texts[0].join(texts[1:])
        case "LOWER":
            return texts[0].lower()
        case "UPPER":
            return texts[0].upper()
        case "TRIM":
            return texts[0].strip(" \t\n\r\u00a0\u2003\u3000")
        case "STRING":
            return texts[0]
        case "INT":
            return numbers[0]
        case "ABS":
            if numbers[0] == -(2**31):
                raise Wrong("math", 2**31 - 1)
            return abs(numbers[0])
    text, place = texts[0], numbers[0]
    if name in ("LEFT", "RIGHT"):
        if place < 0:
            raise Wrong("functionEvaluation", text)
        kept = range(len(text))[:place] if name == "LEFT" else range(len(text))[max(0, len(text) - place) :]
        return "".join(text[at] for at in kept)
    if place > len(text) or place < -len(text) or (len(numbers) == 2 and numbers[1] < 0):
        raise Wrong("functionEvaluation", "")
    start = place - 1 if place > 0 else len(text) + place
    end = start + numbers[1] if len(numbers) == 2 else len(text)
    return "" if place == 0 else "".join(text[at] for at in range(len(text)) if start <= at < end)


def cast(x: Value, like_this: Value) -> Value:
    """To the type of another value."""
    if isinstance(like_this, bool):
        return boolean(x)
    return integer(x) if isinstance(like_this, int) else string(x)


def string(x: Value) -> str:
    return str(x).lower() if isinstance(x, bool) else str(x)


def boolean(x: Value) -> bool:
    if isinstance(x, str):
        if x.lower() not in ("true", "false"):
            raise Wrong("cast", False)
        return x.lower() == "true"
    return x != 0


def integer(x: Value) -> int:
    if not isinstance(x, str):
        return int(x)
    digits = x[1:] if x[:1] in ("+", "-") else x
    if not digits or any(digit not in "0123456789" for digit in digits) or not -(2**31) <= int(x) < 2**31:
        raise Wrong("cast", 0)
    return int(x)


def bounded(number: int) -> int:
    if not -(2**31) <= number < 2**31:
        raise Wrong("math", 0)
    return number
