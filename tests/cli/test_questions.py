"""What all commands have in common that read a question in JSON."""

import io
import json
import re
from pathlib import Path

import pytest

from polycast.cli.app import run
from tests.cli.questions import EXAMPLES, assert_refused

Capture = pytest.CaptureFixture[str]

commands = pytest.mark.parametrize("command", ["place", "attach", "grow"])

FAULTS = {
    "an empty file": (b"", "empty"),
    "not JSON": (b'{"formats": [}', "line 1 column 14"),
    "not text": (b"\xff\xfe\x00", "UTF-8"),
    "infinity": (b'{"cost": Infinity}', "Infinity"),
    "not a number": (b'{"cost": NaN}', "NaN"),
    "a key twice": (b'{"cost": 1, "cost": 1}', '"cost" stands twice'),
    "an array": (b"[]", "Expected `object`, got `array`"),
    "a key is missing": (b"{}", "missing"),
    "nested without end": (b"[" * 100_000, "nested too deeply"),
    "200 MB of brackets": (b"[" * 200_000_000, "nested too deeply"),
    "200 MB of nothing": (b" " * 200_000_000, "empty"),
}


@commands
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_question_is_one_line(capsys: Capture, tmp_path: Path, command: str, fault: str) -> None:
    content, reason = FAULTS[fault]
    file = tmp_path / "question.json"
    file.write_bytes(content)
    assert_refused(capsys, reason, command, str(file))


@commands
def test_a_number_beyond_float64(capsys: Capture, tmp_path: Path, command: str) -> None:
    file = tmp_path / "question.json"
    file.write_text(re.sub(r"\d+\.\d+", "1e999", (EXAMPLES / f"{command}.json").read_text(), count=1))
    assert_refused(capsys, f"{file}, ", command, str(file))


@commands
def test_a_file_that_is_not_there(capsys: Capture, command: str) -> None:
    assert_refused(capsys, "polycast: nowhere.json: No such file or directory\n", command, "nowhere.json")


@pytest.mark.parametrize("command", ["attach", "grow"])
def test_an_answer_that_is_not_there(capsys: Capture, command: str) -> None:
    assert_refused(
        capsys, "nowhere.json: No such", command, str(EXAMPLES / f"{command}.json"), "--evaluate", "nowhere.json"
    )


@commands
def test_the_same_seed_gives_the_same_answer_from_a_file_and_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file, answers = EXAMPLES / f"{command}.json", []
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    for question in (str(file), "-"):
        assert run([command, question, "--seed", "7"]) == 0
        answers.append(json.loads(capsys.readouterr().out) | {"seconds": None})
    assert answers[0] == answers[1]
