"""One command turns a file into another form, or says in one line why not."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path

import psutil
import pytest
from PIL import Image

from examples import samples
from polycast.cli.app import run
from polycast.convert import graphs, magic, media


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for every test, with the map in it."""
    samples.annotated_map(tmp_path / "map.pdf")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("polycast: ")
    assert error.count("\n") == 1
    return error


def test_a_map_becomes_speech(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "map.pdf", "--to", "speech"]) == 0
    with wave.open(str(here / "map.wav")) as sound:
        assert sound.getnframes() / sound.getframerate() > 15
    assert capsys.readouterr().out.startswith("map.wav: pdf → text → speech, ")


def test_a_video_becomes_a_3gp(here: Path) -> None:
    samples.video(here / "clip.mp4", seconds=0.4, size=(320, 240))
    assert run(["convert", "clip.mp4", "--to", "3gp"]) == 0
    assert magic.guess(here / "clip.3gp") == media.THREEGP


def test_several_forms_at_once_as_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["convert", "map.pdf", "--to", "JPEG", "--to", "text", "--to", "announcement", "-o", "out", "--json"]
    assert run(command) == 0
    done = json.loads(capsys.readouterr().out)
    assert [one["format"] for one in done] == ["jpg", "text", "announcement"]
    assert {path.name for path in (here / "out").iterdir()} == {
        "map-jpg.jpg",
        "map-text.txt",
        "map-announcement.wav",
    }
    assert all(Path(one["output"]).stat().st_size == one["size"] for one in done)


def test_through_pipes(here: Path) -> None:
    command = [sys.executable, "-m", "polycast", "convert", "-", "--to", "png-100", "-o", "-"]
    made = subprocess.run(command, input=(here / "map.pdf").read_bytes(), capture_output=True, check=True)
    assert max(Image.open(io.BytesIO(made.stdout)).size) == 100


def test_by_a_graph_of_the_users(here: Path) -> None:
    (here / "mine.json").write_bytes(graphs.written(graphs.load("annotated-map")))
    assert run(["convert", "map.pdf", "--to", "speech", "--graph", "mine.json", "-o", "first.wav"]) == 0
    with wave.open(str(here / "first.wav")) as sound:
        assert sound.getnframes() / sound.getframerate() < 10  # the first annotation alone


def test_a_store_remembers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["convert", "map.pdf", "--to", "text", "-o", "map.txt", "--store", "kept", "--json"]
    assert run(command) == run(command) == 0
    first, again = (json.loads(line)[0] for line in capsys.readouterr().out.splitlines())
    assert first["cpu_seconds"] > 0
    assert (again["cpu_seconds"], again["sha256"]) == (0, first["sha256"])
    assert (here / "kept").is_dir()


def test_a_store_is_kept_to_a_size(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "map.pdf", "--to", "text", "--store", "kept", "-o", "map.txt"]) == 0
    capsys.readouterr()
    size = (here / "map.pdf").stat().st_size + (here / "map.txt").stat().st_size
    assert run(["gc", "kept", "--most", "1K"]) == run(["gc", "kept", "--most", "1K", "--spare", "0"]) == 0
    young, old = map(json.loads, capsys.readouterr().out.splitlines())
    assert young == {"removed": 0, "removed_bytes": 0, "left_bytes": size}
    assert old["left_bytes"] <= 1024
    assert old["removed_bytes"] + old["left_bytes"] == size
    assert run(["gc", "kept", "--most", "all"]) == 2
    assert "not a number" in complaint(capsys)


def test_nothing_is_written_over_unasked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "map.txt").write_text("mine")
    assert run(["convert", "map.pdf", "--to", "text"]) == 2
    assert "exists already" in complaint(capsys)
    assert (here / "map.txt").read_text() == "mine"
    assert run(["convert", "map.pdf", "--to", "text", "-o", "map.txt"]) == 0
    assert run(["convert", "map.txt", "--to", "text", "--from", "text", "-o", "map.txt"]) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["none.pdf", "--to", "jpg"], 2, "no such file"),
        ([".", "--to", "jpg"], 2, "a folder"),
        (["map.pdf", "--to", "jgp"], 2, "did you mean"),
        (["map.pdf", "--to", "jgp-800"], 2, "did you mean jpg-800 or"),
        (["map.pdf", "--to", "mp4"], 3, "map.pdf: no conversion leads from application/pdf"),
        (["map.pdf", "--to", "jpg", "--from", "png"], 3, "map.pdf to jpg: declared image/png, but"),
        (["map.pdf", "--to", "jpg", "--limit", "wall=soon"], 2, "not a number"),
        (["map.pdf", "--to", "jpg", "--limit", "wall"], 2, "not a limit"),
        (["map.pdf", "--to", "jpg", "--limit", "wall=inf"], 2, "not a number"),
        (["map.pdf", "--to", "jpg", "--limit", "walls=1"], 2, 'none is called "walls"; the limits are wall, cpu,'),
        (["map.pdf", "--to", "jpg", "--limit", "files=1.5"], 2, "limit: Expected `int`"),
        (["map.pdf", "--to", "jpg", "--limit", "output=1K"], 3, "more"),
        (["map.pdf", "--to", "jpg", "--graph", "none.json"], 2, "none.json"),
        (["map.pdf", "--to", "jpg", "-o", "none/x.jpg"], 2, "none/x.jpg"),
        (["map.pdf", "--to", "jpg", "--store", "map.pdf"], 2, "map.pdf: no store can be here"),
        (["map.pdf", "--to", "jpg", "--store", "far://away"], 2, "far://away: Protocol not known"),
        (["map.pdf", "--to", "jpg", "--to", "png", "-o", "map.pdf"], 2, "map.pdf: several formats need a folder"),
        (["map.pdf", "--to", "jpg", "--to", "png", "-o", "none/x"], 2, "none/x: several formats need a folder"),
        (["map.pdf", "--to", "jpg", "--to", "png", "-o", "-"], 2, "several formats need a folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, why: str
) -> None:
    assert run(["convert", *arguments]) == code
    assert why in complaint(capsys)
    assert {path.name for path in here.iterdir()} == {"map.pdf"}


def test_what_no_tool_reads_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "readme.py").write_text("print()")
    assert run(["convert", "readme.py", "--to", "jpg-800"]) == 2
    assert complaint(capsys).startswith("polycast: readme.py: no tool reads or writes text/x-python")


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        (b"\0" * 9, 2, b"neither its bytes nor its name tell"),
        (b"words", 3, b"no conversion leads from text/plain"),
    ],
)
def test_what_comes_through_a_pipe_is_called_standard_input(content: bytes, code: int, why: bytes) -> None:
    command = [sys.executable, "-m", "polycast", "convert", "-", "--to", "jpg"]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(b"polycast: standard input: " + why)


def test_a_name_that_says_something_else(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "fake.pdf").write_bytes(b"RIFF0000WAVEfmt ")
    assert run(["convert", "fake.pdf", "--to", "jpg"]) == 3
    expected = 'fake.pdf: no conversion leads from audio/wav to "jpg", and by its name it is application/pdf'
    assert expected in complaint(capsys)


def test_what_can_be_made_is_made_where_another_form_fails(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples.video(here / "silent.mp4", seconds=0.2, size=(160, 120), sound=False)
    assert run(["convert", "silent.mp4", "--to", "3gp-96", "--to", "mp3", "-o", "."]) == 3
    assert "no sound in it" in complaint(capsys)
    assert (here / "silent-3gp-96.3gp").exists()


@pytest.mark.parametrize("command", ["convert", "calibrate"])
def test_ctrl_c_leaves_things_whole(here: Path, command: str) -> None:
    samples.video(here / "clip.mp4", seconds=30, size=(640, 360))
    (here / "out").write_text("before")
    options = {"convert": ["--to", "webm-360", "-o", "out"], "calibrate": ["-o", "out"]}[command]
    (here / "tmp").mkdir()
    with psutil.Popen(
        [sys.executable, "-m", "polycast", command, "clip.mp4", *options],
        env=os.environ | {"TMPDIR": str(here / "tmp")},
        stderr=subprocess.PIPE,
    ) as process:
        while not any("ffmpeg" in child.name() for child in process.children(recursive=True)):
            time.sleep(0.02)
        family = process.children(recursive=True)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stderr.read()
    assert not psutil.wait_procs(family, timeout=30)[1]
    assert (here / "out").read_text() == "before"
    assert not [path for path in (here / "tmp").rglob("*") if path.is_file()]


def test_formats_and_operators(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats"]) == run(["operators"]) == 0
    assert "video/3gpp" in capsys.readouterr().out
    assert run(["formats", "--json"]) == run(["operators", "--json"]) == 0
    formats, operators = map(json.loads, capsys.readouterr().out.splitlines())
    assert {"name": "jpg", "media_type": "image/jpeg", "quality": 0.85} in formats
    assert {"pdf-to-text", "speech", "video", "table"} <= {operator["name"] for operator in operators}
    assert run(["formats", "--from", "map.pdf", "--json"]) == 0
    names = {format["name"] for format in json.loads(capsys.readouterr().out)}
    assert {"speech", "thumbnail", "mp3"} <= names
    assert not {"mp4", "csv"} & names


def test_calibrate_writes_a_graph_that_place_uses(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "map.pdf", "--formats", "jpg-320,text", "--repeat", "1", "-o", "graph.json"]) == 0
    assert "measured on map.pdf" in capsys.readouterr().err
    instance = {
        "graph": "graph.json",
        "published": "pdf",
        "brokers": [{"name": "a"}, {"name": "b", "parent": "a", "wants": ["jpg-320", "text"]}],
    }
    (here / "instance.json").write_text(json.dumps(instance))
    assert run(["place", "instance.json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimal"]


def test_calibrate_names_the_sample_that_is_damaged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "torn.pdf").write_bytes((here / "map.pdf").read_bytes()[:100])
    assert run(["calibrate", "map.pdf", "torn.pdf", "-o", "graph.json"]) == 3
    assert complaint(capsys).startswith("polycast: torn.pdf: cannot be read as a PDF")
    assert not (here / "graph.json").exists()


def test_calibrate_like_a_shipped_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "map.pdf", "--like", "annotated-map", "--repeat", "1"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [format["name"] for format in measured["formats"]] == ["pdf", "jpg", "text", "speech"]
    assert measured["version"] == 1
    assert run(["calibrate", "map.pdf", "--like", "video-16"]) == 2
    assert "no format of it has the media type" in complaint(capsys)
