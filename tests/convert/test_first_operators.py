"""Every first operator makes what it promises, from the samples."""

import wave
from pathlib import Path

import pytest
from PIL import Image

from examples import samples
from polycast.convert import catalogue, graphs
from polycast.convert.store import ContentStore
from polycast.convert.task import Limits
from polycast.errors import BadInput, NoSolution, Timeout, TooLarge, Unreadable
from tests.convert.running import Rendition, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("samples")


@pytest.fixture(scope="module")
def the_map(folder: Path) -> Path:
    return samples.annotated_map(folder / "map.pdf")


@pytest.fixture(scope="module")
def clip(folder: Path) -> Path:
    return samples.video(folder / "clip.mp4", seconds=1.0, size=(640, 360))


def make(source: str, target: str, content: bytes | Path, into: Path, limits: Limits | None = None) -> Rendition:
    return run(catalogue.named(source), catalogue.named(target), content, into, limits)


def test_a_map_becomes_a_picture(the_map: Path, tmp_path: Path) -> None:
    made = make("pdf", "jpg-640", the_map, tmp_path)
    with Image.open(made.path) as image:
        assert (image.format, max(image.size)) == ("JPEG", 640)
    assert made.cpu_seconds > 0


def test_a_map_becomes_text_with_its_notes_first(the_map: Path, tmp_path: Path) -> None:
    text = make("pdf", "text", the_map, tmp_path).path.read_text()
    assert text.startswith("Shelter A: Open at the high school")
    assert "Wildfire, situation" in text


def test_the_first_annotation_is_spoken(the_map: Path, tmp_path: Path) -> None:
    text = make("pdf", "text", the_map, tmp_path)
    speech = make("text", "announcement", text.path, tmp_path)
    with wave.open(str(speech.path)) as sound:
        assert 2 < sound.getnframes() / sound.getframerate() < 15


def test_a_video_becomes_smaller(clip: Path, tmp_path: Path) -> None:
    assert make("mp4-720", "3gp-144", clip, tmp_path).path.stat().st_size < clip.stat().st_size / 2


def test_what_is_not_a_pdf_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        make("pdf", "text", b"not a PDF", tmp_path)


def test_time_is_limited(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(Timeout):
        make("mp4-720", "3gp-144", clip, tmp_path, Limits(wall=0.01))


def test_input_is_limited(tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        make("pdf", "text", b"12345", tmp_path, Limits(input=4))


def test_no_tool_makes_a_pdf_from_speech(tmp_path: Path) -> None:
    with pytest.raises(NoSolution):
        make("speech", "pdf", b"RIFF", tmp_path)


def test_content_is_kept_once_and_verified(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "store")
    digest = store.put(b"hello")
    assert store.put(b"hello") == digest
    assert store.get(digest) == b"hello"
    with store.local(digest, tmp_path) as path:
        path.write_bytes(b"other")
    with pytest.raises(Unreadable):
        store.get(digest)


def test_a_store_in_memory_is_the_same() -> None:
    store = ContentStore("memory://test-store")
    digest = store.put(b"hello")
    assert digest in store
    assert (store.size(digest), store.get(digest)) == (5, b"hello")


def test_the_shipped_graphs() -> None:
    assert {format.name for format in graphs.load("annotated-map").formats} == {"pdf", "jpg", "text", "speech"}
    video = graphs.load("video-16")
    assert (len(video.formats), len(video.operators)) == (16, 210)
    strict = graphs.load("video-16-strict")
    assert set(strict.operators) < set(video.operators)
    assert all(strict[one.target].height <= strict[one.source].height for one in strict.operators)
    for name in graphs.names():
        measured = graphs.load(name).measured
        assert measured is not None
        assert measured.how.startswith("measured on ")
    with pytest.raises(BadInput):
        graphs.load("no-such-graph")
