"""The tables in the repository are what the kept runs say, and every picture in a README is there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import papers
from papers.experiment import Journal

ROOT = Path(papers.__file__).parent


@pytest.mark.parametrize("paper", ["ccd", "overlay"])
def test_tables_are_those_of_the_kept_runs(paper, tmp_path, monkeypatch):
    report = import_module(f"papers.{paper}.report")
    monkeypatch.setattr(report, "draw", lambda *_, **__: None)
    results = ROOT / paper / "results"
    journal = Journal(tmp_path / "journal.jsonl")
    journal.unpack(results / "journal.jsonl.gz")
    report.report(journal, tmp_path)
    tables = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert tables == {path.name: path.read_text() for path in results.glob("*.csv")}


@pytest.mark.parametrize("paper", ["ccd", "overlay"])
def test_every_file_that_a_readme_names_is_there(paper):
    text = (ROOT / paper / "README.md").read_text()
    named = re.findall(r"\]\(([^)#]+)\)", text)
    assert named
    assert [name for name in named if not (ROOT / paper / name).exists()] == []
