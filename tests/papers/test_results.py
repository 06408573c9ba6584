"""The tables in the repository, those in a README too, are what the kept runs say, and every picture is there."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import papers
from papers.experiment import Journal, Run
from papers.readme import with_tables

ROOT = Path(papers.__file__).parent


@pytest.mark.parametrize("paper", ["ccd", "overlay"])
def test_tables_are_those_of_the_kept_runs(paper, tmp_path, monkeypatch):
    report = import_module(f"papers.{paper}.report")
    monkeypatch.setattr(report, "draw", lambda *_, **__: None)
    report.report(kept_runs(paper), tmp_path)
    tables = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert tables == {path.name: path.read_text() for path in (ROOT / paper / "results").glob("*.csv")}


@pytest.mark.parametrize("paper", ["ccd", "overlay"])
def test_tables_in_the_readme_are_those_of_the_kept_runs(paper):
    tables = import_module(f"papers.{paper}.tables").tables(kept_runs(paper))
    text = (ROOT / paper / "README.md").read_text()
    assert sorted(re.findall(r"<!-- table: (\S+) -->", text)) == sorted(tables)
    assert text == with_tables(text, tables)


@pytest.mark.parametrize(
    ("paper", "experiment", "setting"),
    [
        ("overlay", "scale", {"users": 1000}),
        ("overlay", "crowding", {"users": 1000, "brokers": 20}),
        ("ccd", "quality", {"graph": "annotated-map", "ratio": 10}),
        ("ccd", "trees", {"graph": "annotated-map", "ratio": 10}),
    ],
)
def test_kept_runs_are_what_the_methods_of_today_find(paper, experiment, setting):
    """When this fails a method has changed: ``python -m papers.PAPER --forget METHOD`` does its runs again."""
    carry_out_one = import_module(f"papers.{paper}.experiments").carry_out_one
    kept = kept_runs(paper)
    runs = [Run(*json.loads(key)) for key in kept.done]
    first = [run for run in runs if run.experiment == experiment and run.seed == 1]
    asked = [run for run in first if setting.items() <= run.setting.items()]
    assert asked
    for run in asked:
        for now, then in zip(carry_out_one(run), kept.done[run.key], strict=True):
            assert now | {"seconds": 0} == pytest.approx(then | {"seconds": 0}, rel=1e-6), run


def kept_runs(paper: str) -> Journal:
    return Journal(ROOT / paper / "results" / "journal.jsonl")


@pytest.mark.parametrize("paper", ["ccd", "overlay"])
def test_every_file_that_a_readme_names_is_there(paper):
    text = (ROOT / paper / "README.md").read_text()
    named = re.findall(r"\]\(([^)#]+)\)", text)
    assert named
    assert [name for name in named if not (ROOT / paper / name).exists()] == []
