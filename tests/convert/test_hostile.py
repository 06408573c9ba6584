"""Content made to harm: each piece ends in a named error or in harmless output, and the pool goes on."""

import io
import re
import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import imageio_ffmpeg
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from examples import samples
from polycast.convert import catalogue, media, registry
from polycast.convert.pool import Pool
from polycast.convert.task import Limits
from polycast.convert.tools import ffmpeg
from polycast.errors import ConversionError, Refused, Timeout, TooLarge, Unreadable
from tests.convert.running import run

LIMITS = Limits(wall=4, cpu=4, memory=512 << 20, output=64 << 20, pixels=4_000_000)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1) as workers:
        yield workers


@pytest.fixture
def convert(pool: Pool, tmp_path: Path) -> Iterator["Convert"]:
    """Converts, and afterwards proves that the pool still works."""
    yield Convert(pool, tmp_path)
    assert Convert(pool, tmp_path)("text", "announcement", b"still here").startswith(b"RIFF")


class Convert:
    def __init__(self, pool: Pool, folder: Path) -> None:
        self.pool, self.folder = pool, folder

    def __call__(self, source: str, target: str, content: bytes, limits: Limits = LIMITS) -> bytes:
        made = run(
            catalogue.named(source), catalogue.named(target), content, self.folder / "made", limits, self.pool
        )
        return made.path.read_bytes()


# Pictures


def png(width: int, height: int, body: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    head = struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(60_000, 60_000), (2**31 - 1, 1), (2**31 - 1, 2**31 - 1)])
def test_a_picture_that_announces_too_many_pixels(convert: Convert, size: tuple[int, int]) -> None:
    with pytest.raises(TooLarge, match="pixels"):
        convert("png", "jpg", png(*size))


def test_a_picture_that_unpacks_to_more_than_the_memory(convert: Convert) -> None:
    bomb = png(15_000, 15_000, bytes((15_000 * 3 + 1) * 15_000))
    assert len(bomb) < 1 << 20
    with pytest.raises(TooLarge, match="memory"):
        convert("png", "jpg", bomb, Limits(memory=256 << 20, pixels=10**9, wall=20))


def test_a_picture_that_breaks_off(convert: Convert) -> None:
    out = io.BytesIO()
    Image.effect_noise((300, 300), 90).save(out, "JPEG")
    with pytest.raises(Unreadable):
        convert("jpg", "png", out.getvalue()[:5000])


def test_a_polyglot_is_read_as_what_it_is_declared_and_loses_its_other_half(convert: Convert) -> None:
    picture = png(4, 4, bytes(13 * 4))
    both = picture + b"<script>alert(1)</script>" + b"%PDF-1.7"
    assert b"script" not in convert("png", "png", both)
    with pytest.raises(Unreadable, match="looks like image/png"):
        convert("pdf", "jpg", both)


# Documents


def pdf(page: bytes, more: tuple[bytes, ...] = (), kids: int = 1) -> bytes:
    names = b" ".join([b"3 0 R"] * kids)
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (names, kids)
    return samples.pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", tree, page, *more])


def test_a_page_of_14400_points_is_drawn_no_larger_than_allowed(convert: Convert) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 14400 14400] >>"
    drawn = convert("pdf", "jpg", pdf(page))
    with Image.open(io.BytesIO(drawn)) as image:
        assert image.width * image.height <= LIMITS.pixels


@pytest.mark.parametrize("box", [b"[0 0 1e30 1e30]", b"[0 0 0 0]", b"[0 0 nan nan]", b"[9 9 -9 -9]"])
def test_a_page_of_an_absurd_size(convert: Convert, box: bytes) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox %s >>" % box
    try:
        drawn = convert("pdf", "jpg-640", pdf(page))
    except ConversionError:
        return
    with Image.open(io.BytesIO(drawn)) as image:
        assert image.width * image.height <= LIMITS.pixels


def test_pages_that_are_not_there(convert: Convert) -> None:
    """Or are the tree of pages itself."""
    catalogue_, tree = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 9 0 R] /Count 9 >>"
    for target in ("text", "annotation", "jpg"):
        with pytest.raises(Unreadable):
            convert("pdf", target, samples.pdf_file([catalogue_, tree]))


def test_a_hundred_thousand_pages(convert: Convert) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>"
    with pytest.raises(TooLarge, match="pages"):
        convert("pdf", "text", pdf(page, kids=100_000))


def test_a_page_that_draws_itself_without_end(convert: Convert) -> None:
    """Thirty forms, each of which draws the next one ten times."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R "
        b"/Resources << /XObject << /F 5 0 R >> >> >>"
    )
    forms = [samples.pdf_stream(b"/F Do " * 10)]
    forms += [
        samples.pdf_stream(
            b"/F Do " * 10 if number < 34 else b"0 0 99 99 re f",
            b"/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << /XObject << /F %d 0 R >> >>"
            % (number + 1),
        )
        for number in range(5, 35)
    ]
    with suppress(ConversionError):
        convert("pdf", "jpg-320", pdf(page, tuple(forms)))


# Video and sound


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return samples.video(tmp_path_factory.mktemp("clip") / "clip.mp4", 1.0, (320, 180)).read_bytes()


def test_a_video_that_breaks_off(convert: Convert, clip: bytes) -> None:
    with pytest.raises(Unreadable):
        convert("mp4", "3gp-96", clip[: len(clip) // 2])


def test_a_video_that_breaks_off_and_can_be_read_so_far(convert: Convert, clip: bytes) -> None:
    stream = convert("mp4", "flv-120", clip)
    assert len(convert("flv", "3gp-96", stream[: len(stream) // 2])) > 1000


def sparse(path: Path, hours: float) -> bytes:
    """Two frames, so many hours apart."""
    command = (
        f"-v error -y -f lavfi -i color=size=64x48:rate=1:duration=2 -vf setpts=N*{hours * 3600}/TB "
        f"-fps_mode passthrough -c:v libx264 -f mp4 {path}"
    )
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), *command.split()], check=True)
    return path.read_bytes()


def test_a_video_that_announces_no_end(convert: Convert, tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="are more than"):
        convert("mp4", "3gp-96", sparse(tmp_path / "long.mp4", 10))


def test_a_video_that_is_padded_without_end(convert: Convert, tmp_path: Path) -> None:
    """Short to read, but a form with a steady frame rate repeats its one frame for hours."""
    with pytest.raises(ConversionError) as caught:
        convert("mp4", "avi-480", sparse(tmp_path / "sparse.mp4", 3.9), Limits(wall=2, output=8 << 20))
    assert isinstance(caught.value, Timeout | TooLarge | Unreadable)


def test_a_video_that_takes_too_much_processor_time(convert: Convert, tmp_path: Path) -> None:
    with pytest.raises(Timeout, match="processor time"):
        convert(
            "mp4", "webm-360", samples.video(tmp_path / "clip.mp4", 8, (640, 360)).read_bytes(), Limits(cpu=0.2)
        )


def test_more_tracks_or_pixels_than_allowed(convert: Convert, clip: bytes) -> None:
    with pytest.raises(TooLarge, match="tracks"):
        convert("mp4", "3gp-96", clip, Limits(streams=1))
    with pytest.raises(TooLarge):
        convert("mp4", "3gp-96", clip, Limits(pixels=320 * 180 - 1))


SECRET = b"the secret words of this machine"
PLAYLISTS = {
    "hls": b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0,\nfile:///%s\n#EXT-X-ENDLIST\n",
    "concat": b"ffconcat version 1.0\nfile '/%s'\n",
    "sdp": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n%.0s",
}


@pytest.mark.parametrize("head", [b"", b"RIFF\x10\x00\x00\x00AVI \n", b"\x00\x00\x00\x08ftyp\n"])
@pytest.mark.parametrize("kind", PLAYLISTS)
@pytest.mark.parametrize("declared", ["mp4", "avi", "webm", "mp3"])
def test_a_playlist_that_points_at_a_file_of_ours(
    convert: Convert, tmp_path: Path, declared: str, kind: str, head: bytes
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    playlist = head + PLAYLISTS[kind] % str(secret).encode()
    with pytest.raises(Unreadable):
        convert(declared, "wav" if declared == "mp3" else "3gp-96", playlist)


def test_ffmpeg_is_always_told_which_reader_and_that_files_are_all_there_is() -> None:
    for kind, reader in ffmpeg.READERS.items():
        command = " ".join(ffmpeg.opening(Path("-y content"), kind, Limits()))
        assert f"-protocol_whitelist file -format_whitelist {reader} " in command
        assert f" -f {reader} -i file:-y content" in command
        assert "-nostdin" in command
    assert set(ffmpeg.READERS) == {*media.VIDEOS, *media.SOUNDS}


# Words and data


def test_a_text_that_takes_days_to_read_aloud(convert: Convert) -> None:
    with pytest.raises((TooLarge, Timeout)):
        convert("text", "speech", b"word " * 1_000_000)


def test_data_that_is_nested_without_end(convert: Convert) -> None:
    for content in (b"[" * 1_000_000, b'{"a":' * 1_000_000, b'[{"a":' + b"[" * 100_000):
        with pytest.raises(ConversionError):
            convert("json", "csv", content)


def test_a_table_that_unpacks_to_more_than_the_memory(convert: Convert) -> None:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"zero": pa.repeat(0, 30_000_000)}), out)
    assert len(out.getvalue()) < 1 << 20
    with pytest.raises(TooLarge):
        convert("parquet", "csv", out.getvalue(), Limits(memory=128 << 20, wall=20))


# Everything


@pytest.mark.parametrize("name", [format.name for format in catalogue.formats() if "-" not in format.name])
@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 4096, bytes(range(256)) * 16, b"\xff\xd8\xff" + b"\xff" * 4096],
    ids=["nothing", "zeros", "noise", "wrong type"],
)
def test_content_that_is_not_what_it_is_declared_to_be(convert: Convert, name: str, content: bytes) -> None:
    source = catalogue.named(name)
    target = next(target for target in catalogue.formats() if registry.exists(source, target))
    with pytest.raises((Unreadable, Refused)):
        convert(name, target.name, content)


def test_errors_are_one_line(convert: Convert) -> None:
    with pytest.raises(ConversionError) as caught:
        convert("mp3", "wav", b"ID3" + bytes(4096))
    assert re.fullmatch(r"[^\n]{5,400}", str(caught.value))
