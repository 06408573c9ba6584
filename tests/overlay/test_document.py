"""The examples of the overlay's documents print what they are said to print."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("document", "examples"), [("overlay.md", 25), ("attach.md", 12)])
def test_the_examples_of_a_document(document: str, examples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "docs" / document), module_relative=False)
    assert found.attempted > examples
    assert found.failed == 0
