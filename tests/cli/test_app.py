import os
import subprocess
import sys
from pathlib import Path

import pytest

from polycast.cli.app import run


@pytest.mark.parametrize("command", [(), ("pipeline",)])
def test_no_arguments_teach(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    run([*command])
    printed = capsys.readouterr()
    assert "Usage" in printed.out
    assert printed.err == ""


def test_a_wrong_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "--wrong"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("polycast: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "option"),
    [("place", "method"), ("place", "select"), ("place", "start"), ("attach", "method"), ("attach", "core"),
     ("grow", "method"), ("grow", "model")],
)  # fmt: skip
def test_a_wrong_choice_is_one_line_with_the_choices(
    capsys: pytest.CaptureFixture[str], command: str, option: str
) -> None:
    assert run([command, "question.json", f"--{option}", "best of all"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"polycast: Invalid value for '--{option}': 'best of all' is not one of '")
    assert error.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("polycast ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here is always full")
@pytest.mark.parametrize("command", [["--version"], ["place", "--help"], ["formats", "--json"], ["operators"]])
def test_output_that_cannot_be_written_is_one_line(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "polycast", *command], env=environment, stdout=full, stderr=subprocess.PIPE
        )
    assert (ended.returncode, ended.stderr) == (2, b"polycast: standard output: No space left on device\n")


def test_help_that_names_guides_says_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    run(["pipeline", "run", "--help"])
    said = capsys.readouterr().out
    assert "docs/pipeline.md" in said
    assert "Guides named docs/" in said


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_an_interrupt_that_meets_a_kernel(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        error: BaseException = KeyboardInterrupt()
        for _ in range(depth):
            wrapped = SystemError("returned a result with an exception set")
            wrapped.__cause__ = error
            error = wrapped
        raise error

    monkeypatch.setattr("polycast.cli.app.app", interrupted)
    assert run([]) == 130
    assert capsys.readouterr().err == "polycast: interrupted\n"
