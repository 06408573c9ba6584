"""The forms that Polycast knows by name, and the rule that no conversion makes a form look better than it is."""

import re
from collections.abc import Iterator
from functools import cache

from polycast.convert import media, registry
from polycast.errors import BadInput
from polycast.model.format import Format

_PICTURES = {"jpg": media.JPEG, "png": media.PNG, "webp": media.WEBP, "avif": media.AVIF, "gif": media.GIF}
_PICTURE_QUALITY = {"png": 1.0, "gif": 0.5}
_PICTURE_SIZES = (1920, 1280, 640, 320)

_VIDEOS = {
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


def named(name: str) -> Format:
    """A form by its name; pictures and video may have any size in it, as in ``jpg-800`` or ``mp4-600``."""
    known = {format.name: format for format in formats()}
    if name in known:
        return known[name]
    kind, _, size = name.partition("-")
    if re.fullmatch(r"[1-9]\d{0,4}", size) and kind in _PICTURES:
        return _picture(kind, int(size))
    if re.fullmatch(r"[1-9]\d{0,3}", size) and kind in _VIDEOS:
        return _video(kind, int(size))
    raise BadInput("format", f'no format is named "{name}"; `polycast formats` lists them')


@cache
def formats() -> tuple[Format, ...]:
    """Every form with a name of its own; sizes are unknown until they are measured."""
    return (*_documents(), *_pictures(), *_videos(), *_sounds(), *_tables())


def of_media_type(kind: str) -> Format:
    """The form that stands for content of a media type, of any size."""
    for format in formats():
        if media.essence(format) == kind and not (format.width or format.bitrate):
            return format
    raise BadInput("content", f"no format has the media type {kind}")


def keeps(source: Format, target: Format) -> bool:
    """Whether the target asks for nothing that the source has lost: no larger picture, no better quality.

    Qualities are compared among forms of one kind only: a poster of a video is another thing than the video.
    """
    return not (
        _rises(source.width, target.width)
        or _rises(source.height, target.height)
        or _rises(source.framerate, target.framerate)
        or (media.kind(source) == media.kind(target) and _rises(source.quality, target.quality))
    )


def allows(source: Format, target: Format) -> bool:
    """Whether there is an operator from the one form to the other."""
    return source.name != target.name and keeps(source, target) and registry.exists(source, target)


def pairs(among: tuple[Format, ...]) -> Iterator[tuple[Format, Format]]:
    """Every operator among some forms."""
    return ((source, target) for source in among for target in among if allows(source, target))


def _rises(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and after > before


def _documents() -> Iterator[Format]:
    yield Format(name="pdf", size=None, media_type=media.PDF, quality=1.0)
    yield Format(name="text", size=None, media_type=media.TEXT)
    yield Format(name="annotation", size=None, media_type=f"{media.TEXT}; part=annotation")
    yield Format(name="speech", size=None, media_type=media.WAV, language="en", quality=1.0)
    yield Format(name="announcement", size=None, media_type=f"{media.WAV}; part=annotation", language="en")


def _pictures() -> Iterator[Format]:
    for kind in _PICTURES:
        yield _picture(kind, None)
        for size in _PICTURE_SIZES:
            yield _picture(kind, size)
    yield Format(name="thumbnail", size=None, media_type=media.JPEG, width=200, height=200, quality=0.7)
    yield Format(name="contact-sheet", size=None, media_type=f"{media.JPEG}; part=contact-sheet", quality=0.85)


def _picture(kind: str, size: int | None) -> Format:
    """A picture that fits into a square of a size, or of any size."""
    return Format(
        name=f"{kind}-{size}" if size else kind,
        size=None,
        media_type=_PICTURES[kind],
        width=size,
        height=size,
        quality=_PICTURE_QUALITY.get(kind, 0.85),
    )


def _videos() -> Iterator[Format]:
    for kind, media_type in _VIDEOS.items():
        yield Format(name=kind, size=None, media_type=media_type, quality=_CODEC_QUALITY[kind])
        for height in _HEIGHTS.get(kind, _USUAL_HEIGHTS):
            yield _video(kind, height)


def _video(kind: str, height: int) -> Format:
    """A video of a height, at the bit rate that suits it; small 3gp are for the old phones (H.263 and AMR)."""
    old = kind == "3gp" and height in _OLD_PHONE_SIZES
    width = _OLD_PHONE_SIZES[height] if old else round(height * 16 / 9 / 2) * 2
    bits = _BITS_PER_PIXEL[kind] * width * height * _FRAMES_PER_SECOND + (12_200 if old else 96_000)
    quality = (_OLD_PHONE_QUALITY if old else _CODEC_QUALITY[kind]) * min(1.0, height / 1080) ** 0.5
    return Format(
        name=f"{kind}-{height}",
        size=None,
        media_type=_OLD_PHONE if old else _VIDEOS[kind],
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
