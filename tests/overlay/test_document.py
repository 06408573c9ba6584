"""The examples of docs/overlay.md print what they are said to print."""

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "overlay.md"


def test_the_examples_of_the_document():
    found = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert found.attempted > 25
    assert found.failed == 0
