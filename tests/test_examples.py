"""The examples run, and print what they are said to print; the commands of the documents do what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from polycast.cli.app import run

ROOT = Path(__file__).parents[1]

PRINTED = {
    "place.py": """\
cost 44.3, proved the least: True
county receives pdf; runs pdf → txt; delivers nothing
north receives pdf; runs pdf → jpg; delivers pdf, jpg
south receives txt; runs nothing; delivers txt
""",
    "attach.py": """\
greedy: cost 40.50, of which between brokers 18.75
  gauge at north, mayor at north, police at south, medic at south, library at hub
exact: cost 37.00, of which between brokers 4.00
  gauge at north, mayor at hub, police at hub, medic at hub, library at hub
  nothing can cost less than 37.00
the gauge is busy, the mayor silent: cost 75.00, of which between brokers 16.00
  gauge at north, mayor at hub, police at hub, medic at hub, library at hub
  hub sends mayor to north
and then: cost 73.25, of which between brokers 19.00
  gauge at north, mayor at north, police at hub, medic at hub, library at hub
""",
    "grow.py": """\
grown: average loss 0.513
  london ← exchange, paris ← london, oslo ← exchange, rome ← exchange
  no tree can have less than 0.500
london has become slow: average loss 0.557
  london ← exchange, paris ← london, oslo ← exchange, rome ← exchange
adapted in 2 moves: average loss 0.520
  london ← exchange, paris ← exchange, oslo ← exchange, rome ← paris
""",
}


@pytest.mark.parametrize("example", PRINTED)
def test_an_example_prints_what_it_should(example: str) -> None:
    script = [sys.executable, ROOT / "examples" / example]
    printed = subprocess.run(script, capture_output=True, text=True, check=True, timeout=120).stdout
    assert printed == PRINTED[example]


def test_the_question_in_the_placement_document_can_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = (ROOT / "docs" / "place.md").read_text()
    question = re.search(r"```json\n(.*?)```", document, re.DOTALL)
    assert question is not None
    (tmp_path / "question.json").write_text(question[1])
    assert run(["place", str(tmp_path / "question.json")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["optimal"]
    assert all(f"`{key}`" in document for key in answer if key != "brokers")
