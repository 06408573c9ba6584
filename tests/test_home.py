import os
from pathlib import Path

import pytest

from polycast.home import LONGEST, Home, file_name, flush, written


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a\0b", "ana", "é" * 300, "a" * 300, "con.json"])
def test_a_name_stays_in_its_folder_and_is_its_own(name: str) -> None:
    made = file_name(name)
    assert "/" not in made
    assert "\0" not in made
    assert made not in (".", "..")
    assert len(made.encode()) <= LONGEST
    assert made not in {file_name(other) for other in ("a", "a.b", "é" * 301, "a" * 301, "%2E")}
    assert Home(Path("/data")).mailbox(name).parent == Path("/data/mailbox")


def test_words_that_hold_dots_are_not_taken_for_others() -> None:
    assert file_name("a.b", "c") != file_name("a", "b.c")


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with written(path) as out:
        out.write(b"first")
    with pytest.raises(TypeError), written(path) as out:
        out.writelines([b"half of the sec", None])  # type: ignore[list-item]
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_killed_writer_leaves_lies_where_it_is_cleared(tmp_path: Path) -> None:
    home = Home(tmp_path)
    place = home.mailbox("ferry") / "map.pdf"
    with written(place, home.scratch) as out:
        out.write(b"half")
        assert list(place.parent.iterdir()) == []
        assert len(list(home.scratch.iterdir())) == 1
    assert place.read_bytes() == b"half"
    assert list(home.scratch.iterdir()) == []


def test_what_is_to_last_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (order.append("fsync"), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda old, new: (order.append("named"), replace(old, new)))
    with written(tmp_path / "new" / "file", lasting=True) as out:
        out.write(b"words")
    assert order == ["fsync", "named", "fsync"], "the file, its name, and the folder that holds the name"
    with written(tmp_path / "other") as out:
        out.write(b"words")
    assert order[3:] == ["named"]


def test_a_folder_is_flushed_with_all_that_is_on_its_disk(tmp_path: Path) -> None:
    flush(tmp_path)
    with pytest.raises(FileNotFoundError):
        flush(tmp_path / "gone")
