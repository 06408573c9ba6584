"""Opens what was delivered, and checks that it is what it is said to be."""

import io
import wave
from pathlib import Path

import pypdfium2
from PIL import Image

from polycast.convert import media
from polycast.convert.task import Limits
from polycast.convert.tools import probe
from polycast.model.format import Format


def opened(file: Path, form: Format) -> str:
    """What is in a file, in words; an assertion fails if that is not what the form says."""
    kind = media.essence(form)
    if kind in media.PICTURES:
        return picture(file, form)
    if kind in media.VIDEOS:
        return video(file, form)
    if kind == media.WAV:
        return sound(file)
    if kind == media.PDF:
        return f"PDF, {len(pypdfium2.PdfDocument(file))} page"
    return text(file)


def picture(file: Path, form: Format) -> str:
    image = Image.open(io.BytesIO(file.read_bytes()))
    image.load()
    assert image.get_format_mimetype() == media.essence(form), f"{file} is {image.format}"
    assert form.width is None or max(image.size) == form.width, f"{file} is {image.size}, not {form.width}"
    return f"{image.format}, {image.width} × {image.height}"


def video(file: Path, form: Format) -> str:
    held = probe.probe(file, media.essence(form), Limits())
    assert held.duration, f"{file} has no duration"
    assert (held.width, held.height) == (form.width, form.height), f"{file} is {held.width} × {held.height}"
    return f"{held.video}, {held.width} × {held.height}, {held.duration:.1f} s"


def sound(file: Path) -> str:
    with wave.open(str(file)) as recorded:
        seconds = recorded.getnframes() / recorded.getframerate()
    assert seconds > 0.5, f"{file} is silent"
    return f"speech of {seconds:.1f} s"


def text(file: Path) -> str:
    words = file.read_text("utf-8")
    assert words.strip(), f"{file} is empty"
    return f'"{words.strip()[:40]} …"'
