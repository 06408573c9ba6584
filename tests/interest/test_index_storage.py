"""An index in a folder: saved whole or not at all, opened by many, and clear words for what is damaged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from polycast.errors import BadInput
from polycast.interest.cesql import parse
from polycast.interest.index import MatchIndex, storage

EVENT = {"kind": "k3", "level": 50}

ASK = """
import sys
from pathlib import Path
from polycast.interest.index import MatchIndex

index = MatchIndex.open(Path(sys.argv[1]))
print(len(index.match({"kind": "k3", "level": 50})), flush=True)
sys.stdin.readline()
print(len(index.match({"kind": "k3", "level": 50})), flush=True)
"""


def _index(count: int = 1_000) -> MatchIndex:
    return MatchIndex.of(
        (f"s{i}", parse(f"kind = 'k{i % 10}' AND level >= {i % 100}", strict=False)) for i in range(count)
    )


def test_an_opened_index_answers_as_before_and_goes_on_changing(tmp_path: Path) -> None:
    index = _index()
    index.remove("s3")
    index.add("late", parse("kind = 'k3'", strict=False))
    before = index.match(EVENT)
    index.save(tmp_path)
    opened = MatchIndex.open(tmp_path)
    assert opened.match(EVENT) == before
    assert len(opened) == len(index) == 1_000
    opened.remove("s13")
    opened.add("later", parse("level = 50", strict=False))
    assert opened.match(EVENT) == [name for name in before if name != "s13"] + ["later"]
    assert MatchIndex.open(tmp_path).match(EVENT) == before
    opened.save(tmp_path)
    assert MatchIndex.open(tmp_path).match(EVENT) == opened.match(EVENT)
    assert len(list(tmp_path.iterdir())) == 2


def test_an_empty_index_is_saved_and_opened(tmp_path: Path) -> None:
    MatchIndex().save(tmp_path / "new" / "folder")
    index = MatchIndex.open(tmp_path / "new" / "folder")
    assert len(index) == 0
    assert index.match(EVENT) == []


def test_constants_of_every_kind_survive(tmp_path: Path) -> None:
    texts = ("n + 1 = 2", "n + 1.0 = 2", "n + TRUE = 2", "CONCAT(s, '\ud800') = 'x\ud800'", "n * 1.5 < 3.25",
             f"n - {'9' * 300} < 0", "data.list.1 = 'x'", "s LIKE '%a_c%'", "EXISTS data.list")  # fmt: skip
    wishes = [(text, parse(text, strict=False)) for text in texts]
    index = MatchIndex.of(wishes)
    index.save(tmp_path)
    for event in ({"n": 1, "s": "x"}, {"n": 1.0, "s": "abc"}, {"data": {"list": [1, "x"]}}, {}):
        assert MatchIndex.open(tmp_path).match(event) == index.match(event)


def test_processes_share_one_copy_and_a_new_save_does_not_disturb_them(tmp_path: Path) -> None:
    index = _index()
    index.save(tmp_path)
    wanted = str(len(index.match(EVENT)))
    with subprocess.Popen(
        [sys.executable, "-c", ASK, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline().strip() == wanted
        index.remove("s3")
        index.save(tmp_path)
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline().strip() == wanted
    assert other.returncode == 0


def test_a_save_that_is_broken_off_leaves_the_old_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = _index()
    index.save(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    for breaks_at in (1, 2):
        calls = []

        def interrupted(_: object, calls: list[int] = calls, breaks_at: int = breaks_at) -> None:
            calls.append(1)
            if len(calls) == breaks_at:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(storage, "_reach_the_disk", interrupted)
            with pytest.raises(KeyboardInterrupt):
                _index(2_000).save(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        assert len(MatchIndex.open(tmp_path)) == 1_000


def _spoil(folder: Path, how: str) -> None:
    head = folder / "index.json"
    [arrays] = folder.glob("arrays-*.bin")
    document = json.loads(head.read_text())
    if how == "cut arrays":
        arrays.write_bytes(arrays.read_bytes()[:-1])
    elif how == "no arrays":
        arrays.unlink()
    elif how == "other arrays":
        arrays.write_bytes(bytes(len(arrays.read_bytes())))
    elif how == "cut head":
        head.write_text(head.read_text()[:-9])
    elif how == "other head":
        head.write_text(json.dumps(document | {"index": document["index"].replace("levels", "Levels")}))
    elif how == "no object":
        head.write_text("[]")
    elif how == "newer":
        head.write_text(json.dumps(document | {"version": 3}))
    elif how == "no head":
        head.unlink()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("cut arrays", "damaged"),
        ("no arrays", "holds no match index: arrays-.* is not there"),
        ("other arrays", "damaged"),
        ("cut head", "damaged"),
        ("other head", "damaged"),
        ("no object", "damaged"),
        ("newer", "version 3; this Polycast reads version 2"),
        ("no head", "holds no match index"),
    ],
)
def test_what_cannot_be_opened_says_why(how: str, why: str, tmp_path: Path) -> None:
    _index().save(tmp_path)
    _spoil(tmp_path, how)
    with pytest.raises(BadInput, match=why) as caught:
        MatchIndex.open(tmp_path)
    assert caught.value.where == str(tmp_path)


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput):
        MatchIndex.open(tmp_path / "file")
    with pytest.raises(BadInput):
        MatchIndex().save(tmp_path / "file")


def test_the_documents_example_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "index.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/index.md", "exec"), {})
    said = [line.split("  # ")[1] for line in code.splitlines() if "  # " in line]
    assert capsys.readouterr().out.splitlines() == said
