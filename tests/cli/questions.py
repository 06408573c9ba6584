"""Questions in JSON, and how a command refuses a bad one."""

import json
from pathlib import Path
from typing import Any

import pytest

from polycast.cli.app import run

EXAMPLES = Path(__file__).parents[2] / "examples"


def written(folder: Path, document: Any, name: str = "question.json") -> str:
    """A document as a file."""
    file = folder / name
    file.write_text(json.dumps(document))
    return str(file)


def assert_refused(capsys: pytest.CaptureFixture[str], place: str, *arguments: str) -> None:
    """The command prints no answer, and one line that names the place and the reason."""
    assert run([*arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("polycast: ")
    assert printed.err.count("\n") == 1
    assert place in printed.err
