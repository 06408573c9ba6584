"""CESQL 1.0 line by line: what the specification and its conformance cases say of each expression."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from polycast.interest.cesql import evaluate
from tests.oracles import cesql_values as oracle

EVENT = {"specversion": "1.0", "id": "id-1", "source": "https://example.com/source", "type": "com.example.type"}

_LINE = re.compile(r"(?P<expression>.*?) => (?P<value>.*?)(?: ! (?P<error>\w+))?(?: @ (?P<attributes>\{.*\}))?")


def _cases() -> list[Any]:
    lines = Path(__file__).with_name("conformance.txt").read_text().splitlines()
    found = [_LINE.fullmatch(line) for line in lines if line and not line.startswith("#")]
    return [pytest.param(*case.groups(), id=case[0]) for case in found if case]


@pytest.mark.parametrize(("expression", "value", "error", "attributes"), _cases())
def test_conforms(expression: str, value: str, error: str | None, attributes: str | None) -> None:
    event = EVENT | json.loads(attributes or "{}")
    wanted = json.loads(value)
    result = evaluate(expression, event)
    assert (result.value, type(result.value), result.error) == (wanted, type(wanted), error)
    assert oracle.evaluate(expression, event) == (wanted, error)
    if error is None:  # the superset changes only what plain CESQL answers with an error
        assert evaluate(expression, event, strict=False) == result


def test_every_line_is_a_case() -> None:
    assert len(_cases()) > 280
