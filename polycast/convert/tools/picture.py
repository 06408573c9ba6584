"""Pictures: JPEG, PNG, WebP, AVIF and GIF among each other, resized, upright, without metadata (pillow)."""

import io
from pathlib import Path

from PIL import AvifImagePlugin, Image, ImageOps, UnidentifiedImageError, WebPImagePlugin

from polycast.convert import media
from polycast.convert.task import Limits, Output, Task
from polycast.errors import TooLarge, Unreadable
from polycast.model.format import Format

READERS = {
    media.JPEG: "JPEG",
    media.PNG: "PNG",
    media.WEBP: "WEBP",
    media.AVIF: "AVIF",
    media.GIF: "GIF",
}
DEFAULT_QUALITY = 0.85

Image.MAX_IMAGE_PIXELS = None  # our own limit is checked before decoding, and can be set
Image.preinit()  # else pillow loads its readers when it opens its first picture: in every run anew
LOADED = (AvifImagePlugin, WebPImagePlugin)
"""Readers that ``preinit`` leaves out."""


def convert(task: Task) -> None:
    """Decode the picture once, and write it in every form that is wanted."""
    image = read(task.content, task.source, task.limits)
    for done, output in enumerate(task.outputs, start=1):
        write(image, output)
        task.progress(done / len(task.outputs))


def read(content: Path, source: Format, limits: Limits) -> Image.Image:
    """The first frame of a picture, upright, checked before it is decoded."""
    try:
        with Image.open(content, formats=[READERS[media.essence(source)]]) as opened:
            pixels = opened.width * opened.height
            if pixels > limits.pixels:
                raise TooLarge(f"{opened.width} × {opened.height} is more than {limits.pixels} pixels")
            opened.load()
            return _in_eight_bits(ImageOps.exif_transpose(opened))
    except UnidentifiedImageError:  # its words name a file of ours
        raise Unreadable(f"cannot be read as {media.essence(source)}") from None
    except (OSError, ValueError, SyntaxError) as error:
        raise Unreadable(f"cannot be read as {media.essence(source)}: {error}") from None


def _in_eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits, as in pictures of heights or heat, which pillow would cut off rather than scale."""
    if not image.mode.startswith("I"):
        return image
    return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")


def write(image: Image.Image, output: Output) -> None:
    """Write a picture in one form, no larger than it is, without metadata."""
    kind = media.essence(output.format)
    picture = _in_colours_of(kind, resized(image, _fit(image, output.format)))
    picture.info = {}
    encoded = io.BytesIO()  # not into the file: pillow takes no notice of a disk that is full
    picture.save(encoded, READERS[kind], **_settings(kind, output.format))
    output.path.write_bytes(encoded.getbuffer())


def _fit(image: Image.Image, format: Format) -> tuple[int, int]:
    """The size of a picture in a form: never larger than it is."""
    scale = min(
        1.0,
        (format.width or image.width) / image.width,
        (format.height or image.height) / image.height,
    )
    return max(1, round(image.width * scale)), max(1, round(image.height * scale))


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A copy of a picture in another size."""
    if size == image.size:
        return image.copy()
    if image.mode in ("P", "1"):  # colours that are only numbers of a palette cannot be mixed
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _in_colours_of(kind: str, image: Image.Image) -> Image.Image:
    clear = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    if kind == media.JPEG:
        return _on_white(image) if clear else image.convert("L" if image.mode in ("L", "1") else "RGB")
    if kind == media.GIF:
        return image if image.mode in ("P", "L", "1") else image.convert("RGBA" if clear else "RGB")
    return image.convert("RGBA" if clear else "RGB")


def _on_white(image: Image.Image) -> Image.Image:
    """JPEG knows no transparency; paper is white."""
    clear = image.convert("RGBA")
    paper = Image.new("RGB", clear.size, "white")
    paper.paste(clear, mask=clear.getchannel("A"))
    return paper


def _settings(kind: str, format: Format) -> dict[str, object]:
    quality = round(100 * (DEFAULT_QUALITY if format.quality is None else format.quality))
    if kind == media.JPEG:
        return {"quality": min(95, max(1, quality)), "optimize": True}
    if kind == media.WEBP:
        return {"quality": quality, "method": 4}
    if kind == media.AVIF:
        return {"quality": quality, "speed": 8, "max_threads": 1}
    return {"optimize": True} if kind == media.PNG else {}
