"""CESQL the slow and obvious way: parsed by the grammar file, and LIKE by trying everything."""

from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

import polycast.interest.cesql as cesql

_GRAMMAR = Path(cesql.__file__).with_name("cesql.lark")


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR.read_text(), parser="lalr", maybe_placeholders=False)


def tree_of(text: str) -> Tree[Token] | None:
    """An expression as the grammar reads it, whatever its numbers; None if the grammar does not know it."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput:
        return None
    if not isinstance(tree, Tree):
        raise TypeError(tree)
    return tree


def parse_by_grammar(text: str, strict: bool) -> list[tuple[str, Any]] | None:
    """The steps of an expression, or None if it is none."""
    tree = tree_of(text)
    if tree is None:
        return None
    steps: list[tuple[str, Any]] = []
    try:
        _emit(tree, steps, strict)
    except ValueError:
        return None
    return steps


def _emit(tree: Tree[Token], steps: list[tuple[str, Any]], strict: bool) -> None:
    kind, children = tree.data, tree.children
    tokens = [child for child in children if isinstance(child, Token)]
    for child in children:
        if isinstance(child, Tree):
            _emit(child, steps, strict)
    negated = any(token.type == "NOT" for token in tokens)
    first = str(tokens[0]) if tokens else ""
    if kind == "binary":
        steps.append(({"<>": "!="}.get(first, first.lower()), None))
    elif kind == "number":
        steps.append(("const", _number(first, strict)))
    elif kind == "string":
        steps.append(("const", unquoted(first)))
    elif kind == "boolean":
        steps.append(("const", first.lower() == "true"))
    elif kind == "attribute":
        steps.append(("attr", first.lower()))
    elif kind == "path":
        steps.append(("path", _path(first, strict)))
    elif kind == "exists":
        steps.append(("exists", _path(str(tokens[1]), strict)))
    elif kind == "like":
        steps.append(("like", unquoted(str(tokens[-1]))))
    elif kind == "contained":
        arguments = [child for child in children if isinstance(child, Tree)][-1]
        steps.append(("in", len(arguments.children)))
    elif kind == "call":
        count = len(children[1].children) if len(children) > 1 and isinstance(children[1], Tree) else 0
        steps.append(("call", (first.upper(), count)))
    if kind == "minus":
        steps.append(("neg", None))
    elif kind == "negation" or negated:
        steps.append(("not", None))


def _path(text: str, strict: bool) -> tuple[str, ...]:
    if strict and "." in text:
        raise ValueError(text)
    if "." in text and not text.startswith("data."):
        raise ValueError(text)
    return tuple(text.split(".")) if "." in text else (text.lower(),)


def _number(text: str, strict: bool) -> int | float:
    if "." in text:
        if strict:
            raise ValueError(text)
        return float(text)
    number = int(text)
    if strict and not -(2**31) <= number < 2**31:
        raise ValueError(text)
    if -(2**63) <= number < 2**63:
        return number
    return float(text)


def unquoted(text: str) -> str:
    quote, body = text[0], text[1:-1]
    out, position = "", 0
    while position < len(body):
        if body[position] == "\\" and body[position + 1 : position + 2] == quote:
            position += 1
        elif body[position] == "\\":
            out += body[position]
            position += 1
        out += body[position]
        position += 1
    return out


def like(text: str, pattern: str) -> bool:
    """Whether the text matches, by trying everything, a column of the table at a time."""
    reached = {0}
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        elif character == "_":
            reached = {at + 1 for at in reached if at < len(text)}
        else:
            if character == "\\" and pattern[position + 1 : position + 2] in ("%", "_"):
                position += 1
                character = pattern[position]
            reached = {at + 1 for at in reached if at < len(text) and text[at] == character}
        position += 1
    return len(text) in reached
