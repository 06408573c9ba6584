"""Random expressions, filters and events that are likely to meet: few names, few values, every construct."""

import random
from typing import Any

NAMES = ("a", "b", "c", "hop", "x9")
PATHS = ("data.n", "data.s", "data.list.1", "data.deep.er", "data.no")
TEXTS = ("", "a", "ab", "abc", "abd", "b", "5", "-3", "10", "2.5", "true", "FALSE", "zé", "a%b", "a_b",
         "2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00", "3000000000")  # fmt: skip
PATTERNS = ("a%", "%b", "%b%", "a_c", "_", "%", "", "ab", "a\\%b", "a\\_%", "%_b%", "a%c%", "é%", "%5%", "_%_")
INTEGERS = (-3, 0, 1, 2, 5, 10, 2**31 - 1, -(2**31))
DECIMALS = ("2.5", "0.0", "10.0", "3000000000", "9223372036854775808")
FUNCTIONS = (("LENGTH", 1), ("UPPER", 1), ("lower", 1), ("TRIM", 1), ("CONCAT", 2), ("CONCAT_WS", 3), ("LEFT", 2),
             ("RIGHT", 2), ("SUBSTRING", 2), ("SUBSTRING", 3), ("ABS", 1), ("INT", 1), ("BOOL", 1), ("STRING", 1),
             ("CONCAT", 0), ("NOPE", 1), ("LEFT", 1))  # fmt: skip


def quoted(text: str, rng: random.Random) -> str:
    quote = rng.choice("'\"")
    return quote + text.replace(quote, "\\" + quote) + quote


def expression(rng: random.Random, depth: int, strict: bool) -> str:
    """Any expression, most of them sensible, and some of the wrong types."""
    if depth <= 0:
        return operand(rng, strict)
    kind = rng.randrange(12)
    if kind <= 2:
        left, right = expression(rng, depth - 1, strict), expression(rng, depth - 1, strict)
        return _wrapped(f"{left} {rng.choice(('AND', 'or', 'XOR', 'AND', 'OR'))} {right}", rng)
    if kind == 3:
        return f"NOT ({expression(rng, depth - 1, strict)})"
    if kind <= 7:
        return predicate(rng, strict)
    if kind == 8:
        return _wrapped(f"{expression(rng, depth - 1, strict)} {rng.choice('+-*/%')} {operand(rng, strict)}", rng)
    if kind == 9:
        comparison = rng.choice(("=", "!=", "<>", "<", "<=", ">", ">="))
        return _wrapped(f"{expression(rng, depth - 1, strict)} {comparison} {operand(rng, strict)}", rng)
    if kind == 10:
        name, count = rng.choice(FUNCTIONS)
        return f"{name}({', '.join(expression(rng, depth - 2, strict) for _ in range(count))})"
    return f"-{expression(rng, 0, strict)}"


def predicate(rng: random.Random, strict: bool) -> str:
    """What subscriptions mostly consist of: an attribute against a constant."""
    name = rng.choice(NAMES) if strict or rng.random() < 0.8 else rng.choice(PATHS)
    kind = rng.randrange(6)
    if kind == 0:
        return f"EXISTS {name}"
    if kind == 1:
        return f"{name} {rng.choice(('', 'NOT '))}LIKE {quoted(rng.choice(PATTERNS), rng)}"
    if kind == 2:
        elements = ", ".join(constant(rng, strict) for _ in range(rng.randrange(1, 4)))
        return f"{name} {rng.choice(('', 'NOT '))}IN ({elements})"
    comparison = rng.choice(("=", "=", "!=", "<", "<=", ">", ">="))
    if kind == 3:
        return f"{constant(rng, strict)} {comparison} {name}"
    return f"{name} {comparison} {constant(rng, strict)}"


def operand(rng: random.Random, strict: bool) -> str:
    if rng.random() < 0.5:
        return rng.choice(NAMES) if strict or rng.random() < 0.8 else rng.choice(PATHS)
    return constant(rng, strict)


def constant(rng: random.Random, strict: bool) -> str:
    kind = rng.randrange(6)
    if kind <= 2:
        return quoted(rng.choice(TEXTS), rng)
    if kind == 3:
        return rng.choice(("TRUE", "false"))
    if kind == 4 and not strict:
        return rng.choice(DECIMALS)
    return str(rng.choice(INTEGERS))


def attributes(rng: random.Random) -> dict[str, Any]:
    """Some of the attributes, of all types, and a payload."""
    found: dict[str, Any] = {name: value(rng) for name in NAMES if rng.random() < 0.8}
    if rng.random() < 0.7:
        found["data"] = {"n": value(rng), "s": value(rng), "list": [1, value(rng)], "deep": {"er": value(rng)}}
    return found


def value(rng: random.Random) -> Any:
    return rng.choice((rng.choice(TEXTS), rng.choice(TEXTS), rng.choice(INTEGERS), rng.random() < 0.5, 2.5, 10))


def filters(rng: random.Random, depth: int) -> dict[str, Any]:
    """A filter document of any dialect."""
    kind = rng.randrange(8)
    if depth > 0 and kind <= 2:
        dialect = ("all", "any", "not")[kind]
        if dialect == "not":
            return {"not": filters(rng, depth - 1)}
        return {dialect: [filters(rng, depth - 1) for _ in range(rng.randrange(1, 4))]}
    if kind <= 5:
        dialect = ("exact", "prefix", "suffix")[kind % 3]
        names = rng.sample(NAMES, rng.randrange(1, 3))
        return {dialect: {name: rng.choice([text for text in TEXTS if text]) for name in names}}
    return {"sql": expression(rng, rng.randrange(4), strict=False)}


def _wrapped(text: str, rng: random.Random) -> str:
    return f"({text})" if rng.random() < 0.6 else text
