"""The examples of docs/match.md print what they are said to print, and its tables leave nothing out."""

import doctest
import io
import re
from pathlib import Path

import pytest

from polycast.cli.app import run
from polycast.interest.cesql.functions import table
from polycast.interest.cesql.values import PLAIN
from polycast.model.profile import Profile

DOCUMENT = Path(__file__).parents[2] / "docs" / "match.md"
TEXT = DOCUMENT.read_text()


def test_the_examples_of_the_document() -> None:
    found = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert found.attempted > 25
    assert found.failed == 0


def test_the_commands_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    subscriptions, events = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)[:2]
    Path("subscriptions.jsonl").write_text(subscriptions)
    Path("events.jsonl").write_text(events)
    commands = re.findall(r"```console\n\$ polycast (.*?)\n(.*?)```", TEXT, re.DOTALL)
    assert len(commands) == 2
    for command, output in commands:
        arguments, _, typed = command.partition("#")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.strip().encode())))
        run(arguments.split())
        printed = capfd.readouterr()
        assert printed.out + printed.err == output


def test_the_tables_are_complete() -> None:
    assert [name for name in table(PLAIN) if f"`{name}(" not in TEXT] == []
    assert [name for name in Profile.__struct_fields__ if f"`{name}`" not in TEXT] == []
