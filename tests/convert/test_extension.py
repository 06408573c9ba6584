"""Other packages add tools and names for forms, and what a tool needs and is not there takes the tool away."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polycast.convert import registry

ENCODED = ("speech-encoded", "announcement-encoded")
Polycast = Callable[..., subprocess.CompletedProcess[str]]

MODULE = """
from polycast.convert.registry import Tool
from polycast.errors import Unreadable
from polycast.model.format import Format

SHOUT = Format(name="shout", size=None, media_type="text/x-shout")
TOOL = Tool(name="shout", version="1", sources=("text/plain",), targets=("text/x-shout",), entry="shouting:shout")


def shout(task):
    words = task.content.read_text()
    if "quiet" in words:
        raise Unreadable("this text is quiet")
    for output in task.outputs:
        output.path.write_text(words.upper())
"""
POINTS = "[polycast.tools]\nshout = shouting:TOOL\n\n[polycast.formats]\nshout = shouting:SHOUT\n"


def install(folder: Path, points: str) -> None:
    """What an installer leaves behind."""
    (folder / "shouting.py").write_text(MODULE)
    about = folder / "shouting-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points)


@pytest.fixture
def polycast(tmp_path: Path) -> Polycast:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "polycast", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site-packages"), os.getcwd()])},
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / "site-packages").mkdir()
    (tmp_path / "words.txt").write_text("the fire moves east\n")
    return run


def test_a_package_adds_an_operator_and_a_format(polycast: Polycast, tmp_path: Path) -> None:
    install(tmp_path / "site-packages", POINTS)
    assert "text/x-shout" in polycast("operators").stdout
    assert "shout" in polycast("formats", "--from", "words.txt").stdout
    done = polycast("convert", "words.txt", "--to", "shout", "-o", "loud.txt")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "loud.txt").read_text() == "THE FIRE MOVES EAST\n"


def test_its_errors_are_named(polycast: Polycast, tmp_path: Path) -> None:
    install(tmp_path / "site-packages", POINTS)
    (tmp_path / "words.txt").write_text("quiet")
    done = polycast("convert", "words.txt", "--to", "shout", "-o", "loud.txt")
    assert (done.returncode, done.stderr) == (3, "polycast: words.txt to shout: this text is quiet\n")


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ("[polycast.tools]\nshout = nowhere:TOOL\n", "entry point shout: nowhere:TOOL does not load"),
        ("[polycast.tools]\nshout = shouting:SHOUT\n", "is not a Tool or a sequence of them"),
    ],
)
def test_a_broken_package_is_named(polycast: Polycast, tmp_path: Path, points: str, why: str) -> None:
    install(tmp_path / "site-packages", points)
    done = polycast("operators")
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("without", "gone"),
    [
        ("imageio_ffmpeg", {"video", "soundtrack", "poster", "contact-sheet", "sound", *ENCODED}),
        ("espeakng_loader", {"speech", "announcement", *ENCODED}),
    ],
)
def test_ffmpeg_and_espeak_can_be_left_out(monkeypatch: pytest.MonkeyPatch, without: str, gone: set[str]) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == without else name)
    left = {tool.name for tool in registry.BUILT_IN if tool.is_here()}
    assert {tool.name for tool in registry.BUILT_IN} - left == gone


def test_speech_does_without_ffmpeg() -> None:
    program = "import sys; sys.modules['imageio_ffmpeg'] = None; import polycast.convert.tools.speech"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_ffmpeg_of_the_users_own(polycast: Polycast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own-ffmpeg"
    own.write_text("#!/bin/sh\necho 'this is my own' >&2; exit 1\n")
    own.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(own))
    done = polycast("convert", "words.txt", "--to", "mp3", "-o", "none")
    assert done.stderr == "polycast: words.txt to mp3: ffmpeg cannot read it: this is my own\n"
