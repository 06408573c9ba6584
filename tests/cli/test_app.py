import pytest

from polycast.cli.app import run


def test_no_arguments_teach(capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    assert "Usage" in capsys.readouterr().out


def test_a_wrong_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "--wrong"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("polycast: ")
    assert error.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("polycast ")
