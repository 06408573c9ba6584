"""The forms that Polycast brings, each with the bit rate, the size and the quality that its name promises."""

from collections.abc import Iterator

from polycast.convert import media
from polycast.model.format import Format

PICTURES = {"jpg": media.JPEG, "png": media.PNG, "webp": media.WEBP, "avif": media.AVIF, "gif": media.GIF}
_PICTURE_QUALITY = {"png": 1.0, "gif": 0.5}
_PICTURE_SIZES = (1920, 1280, 640, 320)

VIDEOS = {
    "mp4": f'{media.MP4}; codecs="avc1.4D401F, mp4a.40.2"',
    "avi": media.AVI,
    "flv": media.FLV,
    "webm": f'{media.WEBM}; codecs="vp9, opus"',
    "3gp": f'{media.THREEGP}; codecs="mp4v.20.3, mp4a.40.2"',
}
_OLD_PHONE = f'{media.THREEGP}; codecs="s263, samr"'
_OLD_PHONE_SIZES = {288: 352, 144: 176, 96: 128}
_HEIGHTS = {"mp4": (1080, 720, 540, 480, 360), "3gp": (360, *_OLD_PHONE_SIZES)}
_USUAL_HEIGHTS = (720, 540, 480, 360)
_BITS_PER_PIXEL = {"mp4": 0.09, "avi": 0.14, "flv": 0.14, "webm": 0.08, "3gp": 0.10}
_FRAMES_PER_SECOND = 25
# What a codec keeps of a picture at the bit rates above, beside H.264.
_CODEC_QUALITY = {"mp4": 1.0, "webm": 1.0, "avi": 0.95, "flv": 0.9, "3gp": 0.85}
_OLD_PHONE_QUALITY = 0.7

_SOUNDS = {
    "wav": (media.WAV, 1.0),
    "opus": (f"{media.OPUS}; codecs=opus", 0.8),
    "aac": (media.AAC, 0.75),
    "mp3": (media.MP3, 0.7),
    "amr": (media.AMR, 0.3),
}
_TABLES = {"json": media.JSON, "csv": media.CSV, "parquet": media.PARQUET, "arrow": media.ARROW}


def all_forms() -> Iterator[Format]:
    """Every form with a name of its own; sizes in megabytes are unknown until they are measured."""
    yield from _documents()
    yield from _pictures()
    yield from _videos()
    yield from _sounds()
    yield from _tables()


def _documents() -> Iterator[Format]:
    yield Format(name="pdf", size=None, media_type=media.PDF, quality=1.0)
    yield Format(name="text", size=None, media_type=media.TEXT)
    yield Format(name="annotation", size=None, media_type=f"{media.TEXT}; part=annotation")
    yield Format(name="speech", size=None, media_type=media.WAV, language="en", quality=1.0)
    yield Format(name="announcement", size=None, media_type=f"{media.WAV}; part=annotation", language="en")


def _pictures() -> Iterator[Format]:
    for kind in PICTURES:
        yield picture(kind, None)
        for size in _PICTURE_SIZES:
            yield picture(kind, size)
    yield Format(name="thumbnail", size=None, media_type=media.JPEG, width=200, height=200, quality=0.7)
    yield Format(name="contact-sheet", size=None, media_type=f"{media.JPEG}; part=contact-sheet", quality=0.85)


def picture(kind: str, size: int | None) -> Format:
    """A picture that fits into a square of a size, or of any size."""
    return Format(
        name=f"{kind}-{size}" if size else kind,
        size=None,
        media_type=PICTURES[kind],
        width=size,
        height=size,
        quality=_PICTURE_QUALITY.get(kind, 0.85),
    )


def _videos() -> Iterator[Format]:
    for kind, media_type in VIDEOS.items():
        yield Format(name=kind, size=None, media_type=media_type, quality=_CODEC_QUALITY[kind])
        for height in _HEIGHTS.get(kind, _USUAL_HEIGHTS):
            yield video(kind, height)


def video(kind: str, height: int) -> Format:
    """A video of a height, at the bit rate that suits it; small 3gp are for the old phones (H.263 and AMR)."""
    old = kind == "3gp" and height in _OLD_PHONE_SIZES
    width = _OLD_PHONE_SIZES[height] if old else round(height * 16 / 9 / 2) * 2
    bits = _BITS_PER_PIXEL[kind] * width * height * _FRAMES_PER_SECOND + (12_200 if old else 96_000)
    quality = (_OLD_PHONE_QUALITY if old else _CODEC_QUALITY[kind]) * min(1.0, height / 1080) ** 0.5
    return Format(
        name=f"{kind}-{height}",
        size=None,
        media_type=_OLD_PHONE if old else VIDEOS[kind],
        width=width,
        height=height,
        bitrate=float(round(bits, -3)),
        quality=round(quality, 3),
    )


def _sounds() -> Iterator[Format]:
    for name, (media_type, quality) in _SOUNDS.items():
        yield Format(name=name, size=None, media_type=media_type, quality=quality)


def _tables() -> Iterator[Format]:
    for name, media_type in _TABLES.items():
        yield Format(name=name, size=None, media_type=media_type)
