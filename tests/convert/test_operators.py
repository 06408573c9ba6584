"""Every operator makes, from the samples, what its target promises."""

import io
import json
import subprocess
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from examples import samples
from polycast.convert import catalogue, magic, media
from polycast.convert.pool import Pool
from polycast.convert.task import Limits, Output, Task
from polycast.convert.tools import av
from polycast.convert.tools.probe import Probe, probe
from polycast.errors import Refused, Unreadable
from polycast.model.format import Format
from tests.convert.running import Rendition, run, run_many

Make = Callable[..., Rendition]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1) as workers:
        yield workers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("samples")


@pytest.fixture(scope="module")
def the_map(folder: Path) -> Path:
    return samples.annotated_map(folder / "map.pdf")


@pytest.fixture(scope="module")
def clip(folder: Path) -> Path:
    return samples.video(folder / "clip.mp4", seconds=1.0, size=(640, 360))


@pytest.fixture
def make(pool: Pool, tmp_path: Path) -> Make:
    def one(source: str, target: str | Format, content: bytes | Path) -> Rendition:
        wanted = catalogue.named(target) if isinstance(target, str) else target
        return run(catalogue.named(source), wanted, content, tmp_path, pool=pool)

    return one


def held(made: Rendition, name: str) -> Probe:
    return probe(made.path, media.essence(catalogue.named(name)), Limits())


def drawn(kind: str, image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


# Maps and documents


@pytest.mark.parametrize("kind", ["jpg", "png", "webp", "avif", "gif", "thumbnail"])
def test_a_map_is_drawn(make: Make, the_map: Path, kind: str) -> None:
    made = make("pdf", kind, the_map)
    with Image.open(made.path) as image:
        width, height = image.size
    assert width / height == pytest.approx(842 / 595, rel=0.01)
    assert width == (200 if kind == "thumbnail" else 1755)
    assert magic.guess(made.path) == media.essence(catalogue.named(kind))


def test_a_map_is_drawn_at_the_dpi_asked(make: Make, the_map: Path) -> None:
    made = make("pdf", Format(name="fine", size=None, media_type="image/png", dpi=72), the_map)
    with Image.open(made.path) as image:
        assert image.size == (842, 595)


def test_a_map_drawn_small_and_large_in_one_run(pool: Pool, the_map: Path, tmp_path: Path) -> None:
    targets = [catalogue.named(name) for name in ("jpg-320", "png", "webp-640")]
    made = run_many(catalogue.named("pdf"), targets, the_map, tmp_path, pool=pool)
    assert [max(Image.open(one.path).size) for one in made] == [320, 1755, 640]


def test_company_changes_nothing_of_the_size(pool: Pool, the_map: Path, tmp_path: Path) -> None:
    targets = [catalogue.named(name) for name in ("jpg", "png-72dpi", "png-300dpi")]
    made = run_many(catalogue.named("pdf"), targets, the_map, tmp_path, pool=pool)
    assert [Image.open(one.path).width for one in made] == [1755, 842, 3509]


def test_the_first_annotation(make: Make, the_map: Path) -> None:
    text = make("pdf", "annotation", the_map).path.read_text()
    assert text.strip() == "Shelter A: Open at the high school on Oak Street, 400 places, pets welcome."


# Pictures

PICTURES = ["jpg", "png", "webp", "avif", "gif"]


@pytest.mark.parametrize("source", PICTURES)
@pytest.mark.parametrize("target", PICTURES)
def test_pictures_among_each_other(make: Make, source: str, target: str) -> None:
    kinds = {"jpg": "JPEG"}
    content = drawn(kinds.get(source, source.upper()), Image.new("RGB", (60, 40), "red"))
    made = make(source, f"{target}-30", content)
    with Image.open(made.path) as image:
        assert (image.format, image.size) == (kinds.get(target, target.upper()), (30, 20))
        red, green, _ = image.convert("RGB").getpixel((15, 10))
        assert red > 240
        assert green < 15


def test_a_picture_is_never_enlarged(make: Make) -> None:
    made = make("png", "jpg-640", drawn("PNG", Image.new("RGB", (60, 40))))
    assert Image.open(made.path).size == (60, 40)


def test_a_picture_is_set_upright_and_stripped(make: Make) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "a camera that tells"
    made = make("jpg", "jpg", drawn("JPEG", Image.new("RGB", (60, 40)), exif=exif))
    with Image.open(made.path) as image:
        assert image.size == (40, 60)
        assert not image.getexif()
    assert b"camera" not in made.path.read_bytes()


def test_what_is_clear_becomes_paper_in_a_jpeg(make: Make) -> None:
    made = make("png", "jpg", drawn("PNG", Image.new("RGBA", (20, 20), (0, 0, 0, 0))))
    assert Image.open(made.path).getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
@pytest.mark.parametrize("target", PICTURES)
def test_colours_of_every_kind(make: Make, mode: str, target: str) -> None:
    kind = ("tiff", "jpg")[mode == "CMYK"] if mode == "CMYK" else "png"
    content = drawn("JPEG" if kind == "jpg" else "PNG", Image.new(mode, (24, 16)))
    assert Image.open(make(kind, f"{target}-12", content).path).size == (12, 8)


@pytest.mark.parametrize("target", PICTURES)
def test_fine_greys_stay_grey(make: Make, target: str) -> None:
    content = drawn("PNG", Image.fromarray(np.linspace(0, 65535, 256, dtype=np.uint16).reshape(16, 16)))
    with Image.open(make("png", target, content).path) as image:
        greys = np.asarray(image.convert("L"), float).ravel()
    assert np.abs(greys - np.arange(256)).mean() < 4


# Video and sound

VIDEO = ["mp4", "avi", "flv", "webm", "3gp"]


@pytest.mark.parametrize("kind", VIDEO)
def test_video_of_every_kind_there_and_back(make: Make, clip: Path, kind: str) -> None:
    there = make("mp4", f"{kind}-240", clip)
    assert magic.guess(there.path) == media.essence(catalogue.named(kind))
    assert held(there, kind).height == 240
    assert held(there, kind).audio is not None
    back = make(kind, "mp4-120", there.path)
    probed = held(back, "mp4")
    assert (probed.video, probed.audio, probed.width, probed.height) == ("h264", "aac", 214, 120)


@pytest.mark.parametrize(
    ("name", "size"), [("3gp-288", (352, 288)), ("3gp-144", (176, 144)), ("3gp-96", (128, 96))]
)
def test_old_phones(make: Make, clip: Path, name: str, size: tuple[int, int]) -> None:
    probed = held(make("mp4", name, clip), name)
    assert (probed.video, probed.audio, (probed.width, probed.height)) == ("h263", "amr_nb", size)


@pytest.mark.parametrize("target", ["3gp-144", "avi-240", "webm-240", "mp4", "mp3", "jpg"])
def test_ffmpeg_is_started_once_for_what_is_usual(
    monkeypatch: pytest.MonkeyPatch, clip: Path, tmp_path: Path, target: str
) -> None:
    assert starts_of_ffmpeg(monkeypatch, clip, target, tmp_path / "made") == 1


def test_ffmpeg_is_started_anew_for_the_moments_of_a_contact_sheet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They depend on the length, which is seen when the video is open."""
    short = samples.video(tmp_path / "short.mp4", seconds=0.4, size=(160, 120))
    assert starts_of_ffmpeg(monkeypatch, short, "contact-sheet", tmp_path / "made") == 2


def starts_of_ffmpeg(monkeypatch: pytest.MonkeyPatch, content: Path, target: str, out: Path) -> int:
    started: list[object] = []
    start = subprocess.Popen

    def counted(*words: Any, **more: Any) -> "subprocess.Popen[bytes]":
        started.append(words)
        return start(*words, **more)

    monkeypatch.setattr(subprocess, "Popen", counted)
    form, heard = catalogue.named(target), list[float]()
    av.convert(Task(content, catalogue.named("mp4"), (Output(form, out),), Limits(), heard.append))
    assert magic.guess(out) == media.essence(form)
    return len(started)


def test_what_holds_something_else_than_usual(make: Make, clip: Path, tmp_path: Path) -> None:
    """Other codecs in it, no sound, or already as small as wanted: begun anew, with what is seen."""
    odd = tmp_path / "odd.avi"
    copied = ("-v", "error", "-i", str(clip), "-c", "copy", "-an", str(odd))
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), *copied], check=True)
    for target in ("mp4", "mp4-480"):
        again = make("avi", target, odd)
        assert held(again, "mp4")[3:7] == ("h264", None, 640, 360)
        assert again.cpu_seconds < make("avi", "mp4-350", odd).cpu_seconds / 2
    with pytest.raises(Unreadable, match="no sound"):
        make("avi", "mp3", odd)


def test_many_sizes_in_one_run(pool: Pool, clip: Path, tmp_path: Path) -> None:
    names = ["3gp-144", "flv-240", "jpg", "mp3"]
    made = run_many(catalogue.named("mp4"), [catalogue.named(name) for name in names], clip, tmp_path, pool=pool)
    assert [magic.guess(one.path) for one in made] == [media.THREEGP, media.FLV, media.JPEG, media.MP3]


def test_where_only_the_container_changes_nothing_is_decoded(make: Make, clip: Path) -> None:
    again = make("mp4", "mp4", clip)
    assert held(again, "mp4").video == "h264"
    assert again.cpu_seconds < make("mp4", "mp4-350", clip).cpu_seconds / 2


def test_the_same_content_gives_the_same_bytes(make: Make, clip: Path) -> None:
    assert make("mp4", "mp4-240", clip).digest == make("mp4", "mp4-240", clip).digest


@pytest.mark.parametrize("kind", ["jpg", "png", "webp"])
def test_a_poster(make: Make, clip: Path, kind: str) -> None:
    with Image.open(make("mp4", f"{kind}-320", clip).path) as image:
        assert image.size == (320, 180)
        assert "comment" not in image.info


def test_a_contact_sheet(make: Make, clip: Path) -> None:
    sheet = Format(name="sheet", size=None, media_type="image/jpeg; part=contact-sheet", width=640, height=640)
    with Image.open(make("mp4", sheet, clip).path) as image:
        assert image.size == (640, 360)
        assert image.getpixel((600, 340)) != (0, 0, 0)


SOUND = ["wav", "mp3", "opus", "aac", "amr"]


@pytest.mark.parametrize("source", SOUND)
def test_sound_among_each_other(make: Make, pool: Pool, clip: Path, source: str, tmp_path: Path) -> None:
    sound = make("mp4", source, clip)
    assert magic.guess(sound.path) == media.essence(catalogue.named(source))
    targets = [catalogue.named(name) for name in SOUND]
    for name, made in zip(
        SOUND, run_many(catalogue.named(source), targets, sound.path, tmp_path, pool=pool), strict=True
    ):
        assert held(made, name).audio is not None
        assert held(made, name).duration == pytest.approx(1.0, abs=0.2)


def test_a_silent_video(make: Make, tmp_path: Path) -> None:
    silent = samples.video(tmp_path / "silent.mp4", seconds=0.4, size=(160, 120), sound=False)
    assert held(make("mp4", "3gp-96", silent), "3gp").audio is None
    with pytest.raises(Unreadable, match="no sound"):
        make("mp4", "mp3", silent)


# Speech


def test_text_is_spoken_whole_or_in_part(make: Make) -> None:
    text = b"The first thing.\n\nAnd a second thing, which is much longer than the first.\n"

    def seconds(name: str) -> float:
        with wave.open(str(make("text", name, text).path)) as sound:
            return sound.getnframes() / sound.getframerate()

    assert 0.5 < seconds("announcement") < seconds("speech") / 2


@pytest.mark.parametrize("name", ["opus", "mp3"])
def test_speech_is_encoded(make: Make, name: str) -> None:
    assert held(make("text", name, "Grüße".encode()), name).audio == name


def test_what_is_spoken_alike_is_spoken_once(pool: Pool, tmp_path: Path) -> None:
    text = b"First.\n\nSecond, and more of it.\n"
    german = Format(name="german", size=None, media_type="audio/wav", language="de")
    targets = [*(catalogue.named(name) for name in ("speech", "mp3", "opus", "announcement", "wav")), german]
    made = run_many(catalogue.named("text"), targets, text, tmp_path, pool=pool)
    assert [magic.guess(one.path) for one in made] == [*(media.WAV, media.MP3, media.OPUS), *[media.WAV] * 3]
    assert len({one.digest for one in made}) == 5  # where no language is said, it is English
    alone = run(catalogue.named("text"), german, text, tmp_path, pool=pool)
    assert alone.digest == made[-1].digest


def test_speech_in_another_language(make: Make) -> None:
    german = Format(name="german", size=None, media_type="audio/wav", language="de")
    english = make("text", "speech", b"eins zwei drei")
    assert make("text", german, b"eins zwei drei").digest != english.digest
    with pytest.raises(Unreadable, match="no voice"):
        make("text", Format(name="none", size=None, media_type="audio/wav", language="xx-none"), b"one")


# Data

RECORDS = [{"place": "Shelter A", "free": 400, "share": 0.5}, {"place": "Ü", "free": None, "share": 1.0}]
TABLES = ["json", "csv", "parquet", "arrow"]


@pytest.mark.parametrize("first", TABLES)
@pytest.mark.parametrize("second", TABLES)
def test_tables_among_each_other(make: Make, first: str, second: str) -> None:
    there = make("json", first, json.dumps(RECORDS).encode())
    back = make(second, "json", make(first, second, there.path).path)
    assert json.loads(back.path.read_bytes()) == RECORDS


def test_records_need_not_have_the_same_keys(make: Make) -> None:
    assert make("json", "csv", b'[{"a": 1}, {"b": "x"}, {}]').path.read_text() == '"a","b"\n1,\n,"x"\n,\n'


def test_a_record_a_line_is_json_too(make: Make) -> None:
    lines = b'{"a": 1}\n{"a": 2}\n'
    assert make("json", "csv", lines).path.read_text() == '"a"\n1\n2\n'


def test_a_table_that_has_no_such_form(make: Make) -> None:
    with pytest.raises(Refused):
        make("json", "csv", b'[{"a": {"b": [1]}}]')
    nested = pa.table({"when": [b"\x00\x01"]})
    out = io.BytesIO()
    pyarrow.parquet.write_table(nested, out)
    with pytest.raises(Refused):
        make("parquet", "json", out.getvalue())
