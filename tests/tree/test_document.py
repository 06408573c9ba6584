"""The commands and examples of docs/grow.md do what they are said to do, and its tables leave nothing out."""

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from polycast.tree import METHODS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "grow.md"
TEXT = DOCUMENT.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def rounded(value: Any) -> Any:
    """An answer as the document prints it, but for what no two runs have in common."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items() if key != "seconds"}
    return round(value, 5) if isinstance(value, float) else value


def test_the_commands_answer_what_is_shown(tmp_path: Path) -> None:
    (commands,) = blocks("sh")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = ["sh", "-e", "-c", commands]
    ran = subprocess.run(shell, cwd=tmp_path, env=os.environ | {"PATH": programs}, capture_output=True, check=True)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["method"] for answer in answers] == ["greedy", "evaluate", "greedy"]
    assert [len(answer["trees"]) for answer in answers] == [1, 1, 2]

    _, shown = blocks("json")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert rounded(answer) == rounded(json.loads(shown))
    assert list(answer) == list(json.loads(shown))
    assert answers[1]["trees"] == answer["trees"]


def test_the_question_is_the_example() -> None:
    assert blocks("json")[0] == (ROOT / "examples" / "grow.json").read_text()


@pytest.mark.parametrize(
    "name", ["avg_loss", "lower_bound", "overloaded", "seconds", "losses", "trees[]", *METHODS]
)
def test_the_tables_leave_nothing_out(name: str) -> None:
    assert f"| `{name}` |" in TEXT


def test_the_examples_in_python() -> None:
    found = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert found.attempted > 15
    assert found.failed == 0
