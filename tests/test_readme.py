"""What the README tells a newcomer to type works, and prints what it says."""

import re
import shlex
from pathlib import Path

import pytest

from polycast.cli.app import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_plan_is_drawn_as_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    command = next(line for block in blocks("sh") for line in block.splitlines() if " place " in line)
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().err in README


def test_the_python_prints_what_its_comment_says(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = blocks("python")
    exec(compile(source, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == source.rpartition("# ")[2].strip()


def test_every_document_that_is_named_is_there() -> None:
    texts = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("polycast/**/*.py")]
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.md\b", text.read_text())}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()
