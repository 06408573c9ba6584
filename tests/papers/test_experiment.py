"""The plumbing of experiments: nothing is done twice, nothing is lost, and means are means."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from papers.experiment import (
    Experiments,
    Journal,
    Run,
    carry_out,
    in_waves,
    journal_in,
    main,
)
from papers.figures import Panel, averages, draw, write_csv

RUNS = [Run("speed", seed, {"size": size}) for seed in (1, 2) for size in (10, 20)]


def work(run: Run) -> list[dict[str, float]]:
    return [{"step": step, "cost": float(run.setting["size"] * run.seed + step)} for step in (0, 1)]


def test_what_was_done_is_not_done_again(tmp_path):
    path = tmp_path / "results" / "journal.jsonl"
    asked = []

    def counted(run: Run) -> list[dict[str, float]]:
        asked.append(run.key)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return work(run)

    with pytest.raises(KeyboardInterrupt):
        carry_out(RUNS, counted, Journal(path))
    with path.open("a") as file:
        file.write('{"run": "cut sho')
    again = Journal(path)
    assert len(again.done) == 2
    carry_out(RUNS, work, again)
    assert len(asked) == 3
    assert Journal(path).done == again.done
    assert len(again.rows("speed")) == 8


def test_packed_runs_are_gone_on_with(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    carry_out(RUNS[:2], work, journal)
    journal.pack()
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl.gz"]
    again = journal_in(tmp_path)
    carry_out(RUNS, work, again)
    assert len(journal_in(tmp_path).done) == len(RUNS)
    once = journal.packed.read_bytes()
    journal.pack()
    assert journal.packed.read_bytes() == once
    assert not journal_in(tmp_path, fresh=True).done


def test_a_method_that_has_changed_is_done_again(tmp_path):
    runs = [Run("speed", 1, {"size": 10, "method": method}) for method in ("old", "new")]
    carry_out([*RUNS, *runs], work, journal_in(tmp_path))
    journal = journal_in(tmp_path)
    journal.forget("old")
    assert journal.done.keys() == {run.key for run in [*RUNS, runs[1]]}
    assert journal_in(tmp_path).done == journal.done


def test_all_settings_get_some_seeds_before_any_gets_more():
    waves = [lambda seed, name=name: [Run(name, seed)] for name in ("quick", "slow")]
    order = [(run.experiment, run.seed) for run in in_waves(waves, 3, milestones=(1, 5))]
    assert order == [("quick", 1), ("slow", 1), ("quick", 2), ("quick", 3), ("slow", 2), ("slow", 3)]


@pytest.mark.parametrize("interrupted", [False, True])
def test_the_command_reports_what_is_done(tmp_path, monkeypatch, capsys, interrupted):
    def one(run: Run) -> list[dict[str, float]]:
        if interrupted and run.seed == 2:
            raise KeyboardInterrupt
        return work(run)

    paper = speeds(tmp_path, one)
    monkeypatch.setattr("sys.argv", ["speed", "--runs", "2"])
    assert main(paper, 100) == (130 if interrupted else 0)
    assert ("goes on from here" in capsys.readouterr().err) == interrupted
    done = 2 if interrupted else 4  # with 10 as with 20
    assert (paper.out / "table.csv").read_text().splitlines()[1].startswith(f"10,{done},")
    assert (paper.out / "journal.jsonl.gz").exists()
    assert (tmp_path / "README.md").read_text() == f"Ours:\n<!-- table: done -->\n{done}\n<!-- end -->\n"


@pytest.mark.parametrize("arguments", [["--quick"], ["--runs", "1", "--out", "elsewhere"]])
def test_the_readme_tells_of_the_kept_results_only(tmp_path, monkeypatch, arguments):
    paper = speeds(tmp_path, work)
    before = (tmp_path / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["speed", *arguments])
    main(paper, 100)
    assert (tmp_path / "README.md").read_text() == before
    assert not paper.out.exists()


def speeds(folder: Path, one: Callable[[Run], list[dict[str, float]]]) -> Experiments:
    """A paper with one table and one number in its README."""
    (folder / "README.md").write_text("Ours:\n<!-- table: done -->\n<!-- end -->\n")
    results, tables = folder / "results", lambda journal: {"done": f"{len(journal.rows('speed')) // 2}\n"}
    return Experiments("speeds", results, lambda n: RUNS[: 2 * n], lambda: RUNS[:1], one, report, tables)


def report(journal: Journal, out: Path) -> None:
    write_csv(out / "table.csv", averages(journal.rows("speed"), ["size"], ["cost"]))


def test_what_is_not_measured_everywhere_is_averaged_where_it_is():
    rows = averages([{"x": 1, "y": 1.0}, {"x": 1}, {"x": 2}], ["x"], ["y"])
    assert rows[0] == {"x": 1, "runs": 2, "y": 1.0, "y ±": pytest.approx(math.nan, nan_ok=True)}
    assert math.isnan(rows[1]["y"])


def test_several_at_a_time_find_the_same(tmp_path):
    one, two = Journal(tmp_path / "one"), Journal(tmp_path / "two")
    carry_out(RUNS, work, one)
    carry_out(RUNS, work, two, jobs=2)
    assert one.done == two.done


def test_means_are_taken_over_what_is_not_named(tmp_path):
    journal = journal_in(tmp_path, fresh=True)
    carry_out(RUNS, work, journal)
    rows = averages(journal.rows("speed"), ["size", "step"], ["cost"])
    assert [(row["size"], row["step"], row["runs"], row["cost"]) for row in rows] == [
        (10, 0, 2, 15.0),
        (10, 1, 2, 16.0),
        (20, 0, 2, 30.0),
        (20, 1, 2, 31.0),
    ]
    assert rows[0]["cost ±"] == pytest.approx(1.96 * math.sqrt(50) / math.sqrt(2))


def test_tables_and_pictures(tmp_path):
    rows = [{"x": 1, "y": 0.123456789, "y ±": math.nan, "kind": "a"}, {"x": 2, "y": 1.0, "y ±": 0.5, "kind": "a"}]
    write_csv(tmp_path / "table.csv", rows)
    assert (tmp_path / "table.csv").read_text() == "x,y,y ±,kind\n1,0.12346,,a\n2,1,0.5,a\n"
    draw(
        tmp_path / "picture.png", [Panel("one", rows, "x", ["y"], line="kind"), Panel("none", [], "x", ["y"])], "y"
    )
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
