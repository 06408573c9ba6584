"""The plumbing of experiments: nothing is done twice, nothing is lost, and means are means."""

import math

import pytest

from papers.experiment import Journal, Panel, Run, averages, carry_out, draw, journal_in, write_csv

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
        file.write('{"key": "cut sho')
    again = Journal(path)
    assert len(again.done) == 2
    carry_out(RUNS, work, again)
    assert len(asked) == 3
    assert Journal(path).done == again.done
    assert len(again.rows("speed")) == 8


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
