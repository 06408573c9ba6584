"""The commands and examples of docs/conversion.md do what they are said to do."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from polycast.cli.app import run
from polycast.convert.task import Limits
from tests.convert.test_extension import MODULE

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "conversion.md"
TEXT = DOCUMENT.read_text()


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```sh\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *rest = commands()
    command = [sys.executable, str(ROOT / first[1]), first[2]]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, check=True)
    assert len(rest) > 10
    for program, *arguments in rest:
        assert (program, run(arguments)) == ("polycast", 0), arguments


def test_the_examples_in_python() -> None:
    found = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert found.attempted > 5
    assert found.failed == 0


def test_the_operator_of_ones_own_is_the_one_that_is_tested() -> None:
    assert MODULE.strip() in TEXT


def test_every_limit_is_named() -> None:
    section = TEXT.partition("| limit | default |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", section)) == set(Limits.__struct_fields__)
