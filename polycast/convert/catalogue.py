"""The forms that Polycast knows by name, and the rule that no conversion makes a form look better than it is."""

import re
from collections.abc import Iterator

from polycast.convert import media, registry
from polycast.errors import BadInput
from polycast.model.format import Format

_PICTURE_TYPES = {
    "jpg": media.JPEG,
    "png": media.PNG,
    "webp": media.WEBP,
    "avif": media.AVIF,
    "gif": media.GIF,
}
_PICTURE_SIZES = (1920, 1280, 640, 320)
_VIDEO_TYPES = {
    "mp4": f'{media.MP4}; codecs="avc1.4D401F, mp4a.40.2"',
    "avi": media.AVI,
    "flv": media.FLV,
    "webm": f'{media.WEBM}; codecs="vp9, opus"',
    "3gp": f'{media.THREEGP}; codecs="mp4v.20.3, mp4a.40.2"',
}
_OLD_PHONE = f'{media.THREEGP}; codecs="s263, samr"'
_HEIGHTS = {"mp4": (1080, 720, 540, 480, 360), "avi": (720, 540, 480, 360), "flv": (720, 540, 480, 360),
            "webm": (720, 540, 480, 360), "3gp": (360, 288, 144, 96)}  # fmt: skip
_BITS_PER_PIXEL = {"mp4": 0.09, "avi": 0.14, "flv": 0.14, "webm": 0.08, "3gp": 0.10}
_RATE = 25.0


def named(name: str) -> Format:
    """A form by its name; pictures and video may have any size in it, as in ``jpg-800`` or ``mp4-600``."""
    for format in formats():
        if format.name == name:
            return format
    kind, _, size = name.partition("-")
    if re.fullmatch(r"[1-9]\d{0,4}", size) and kind in _PICTURE_TYPES:
        return picture(kind, int(size))
    if re.fullmatch(r"[1-9]\d{0,3}", size) and kind in _VIDEO_TYPES:
        return video(kind, int(size))
    raise BadInput("format", f'no format is named "{name}"; `polycast formats` lists them')


def formats() -> Iterator[Format]:
    """Every form with a name of its own; sizes are unknown until they are measured."""
    yield Format(name="pdf", size=None, media_type=media.PDF, quality=1.0)
    yield Format(name="text", size=None, media_type=media.TEXT, quality=0.6)
    yield Format(name="annotation", size=None, media_type=f"{media.TEXT}; part=annotation", quality=0.2)
    yield Format(name="speech", size=None, media_type=media.WAV, language="en", quality=0.6)
    yield Format(
        name="announcement", size=None, media_type=f"{media.WAV}; part=annotation", language="en", quality=0.2
    )
    for kind in _PICTURE_TYPES:
        yield picture(kind, None)
        for size in _PICTURE_SIZES:
            yield picture(kind, size)
    for kind, heights in _HEIGHTS.items():
        for height in heights:
            yield video(kind, height)


def picture(kind: str, size: int | None) -> Format:
    """A picture that fits into a square of a size, or of any size."""
    quality = {"png": 1.0, "gif": 0.5}.get(kind, 0.85)
    return Format(
        name=f"{kind}-{size}" if size else kind,
        size=None,
        media_type=_PICTURE_TYPES[kind],
        width=size,
        height=size,
        quality=quality,
    )


def video(kind: str, height: int) -> Format:
    """A video of a height, at the bit rate that suits it; small 3gp are for the old phones (H.263 and AMR)."""
    old = kind == "3gp" and height < 360
    width = round(height * (11 / 9 if old else 16 / 9) / 2) * 2
    if old and height == 96:
        width = 128
    bits = _BITS_PER_PIXEL[kind] * width * height * _RATE + (12_200 if old else 96_000)
    return Format(
        name=f"{kind}-{height}",
        size=None,
        media_type=_OLD_PHONE if old else _VIDEO_TYPES[kind],
        width=width,
        height=height,
        bitrate=float(round(bits, -3)),
        quality=round(min(1.0, height / 1080) ** 0.5, 2),
    )


def keeps(source: Format, target: Format) -> bool:
    """Whether the target asks for nothing that the source has lost: no larger picture, no better quality."""
    return not (
        _rises(source.width, target.width)
        or _rises(source.height, target.height)
        or _rises(source.framerate, target.framerate)
        or _rises(source.quality, target.quality)
    )


def allows(source: Format, target: Format) -> bool:
    """Whether there is an operator from the one form to the other."""
    return source.name != target.name and keeps(source, target) and registry.exists(source, target)


def _rises(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and after > before
