"""Opens what was delivered, and checks that it is what it is said to be."""

import array
import io
import wave
from pathlib import Path

import pypdfium2
from PIL import Image, UnidentifiedImageError

from polycast.convert import media
from polycast.convert.task import Limits
from polycast.convert.tools import probe
from polycast.errors import ConversionError
from polycast.home import Home
from polycast.model.format import Format
from polycast.model.plan import Plan
from polycast.pipeline import mailbox

QUIETEST = 300
"""Of 32,767: what the loudest moment of speech exceeds."""


class NotAsSaid(Exception):
    """What was delivered is not what it should be."""


def arrived(home: Home, publication: str, planned: Plan) -> list[mailbox.Delivered]:
    """What was delivered of a publication: all that was planned, each to whom it was planned for, and no more."""
    found = list(mailbox.deliveries(home, publication))
    wanted = {(one.subscription, one.broker, one.format) for one in planned.deliveries}
    there = {(one.subscription, one.broker, one.form) for one in found}
    demand(wanted == there, f"not delivered: {sorted(wanted - there)}; not planned: {sorted(there - wanted)}")
    return found


def opened(file: Path, form: Format) -> str:
    """What is in a file, in words; ``NotAsSaid`` if that is not what the form says."""
    kind = media.essence(form)
    if kind in media.PICTURES:
        return picture(file, form)
    if kind in media.VIDEOS:
        return video(file, form)
    if kind == media.WAV:
        return sound(file)
    if kind == media.PDF:
        return document(file)
    return text(file)


def picture(file: Path, form: Format) -> str:
    try:
        image = Image.open(io.BytesIO(file.read_bytes()))
        image.load()
    except (UnidentifiedImageError, OSError) as error:
        raise NotAsSaid(f"{file}: {error}") from None
    demand(image.get_format_mimetype() == media.essence(form), f"{file} is {image.format}")
    demand(form.width is None or max(image.size) == form.width, f"{file} is {image.size}, not {form.width}")
    demand(len(set(image.convert("L").resize((16, 16)).tobytes())) > 1, f"{file} is blank")
    return f"{image.format}, {image.width} × {image.height}"


def video(file: Path, form: Format) -> str:
    try:
        held = probe.probe(file, media.essence(form), Limits())
    except ConversionError as error:
        raise NotAsSaid(f"{file}: {error}") from None
    demand(bool(held.duration), f"{file} has no duration")
    demand((held.width, held.height) == (form.width, form.height), f"{file} is {held.width} × {held.height}")
    return f"{held.video}, {held.width} × {held.height}, {held.duration:.1f} s"


def sound(file: Path) -> str:
    try:
        with wave.open(str(file)) as recorded:
            seconds = recorded.getnframes() / recorded.getframerate()
            loudest = max(map(abs, array.array("h", recorded.readframes(recorded.getnframes()))), default=0)
    except (wave.Error, EOFError) as error:
        raise NotAsSaid(f"{file}: {error}") from None
    demand(seconds > 0.5 and loudest > QUIETEST, f"{file} is silent")
    return f"speech of {seconds:.1f} s"


def document(file: Path) -> str:
    try:
        pages = len(pypdfium2.PdfDocument(file))
    except pypdfium2.PdfiumError as error:
        raise NotAsSaid(f"{file}: {error}") from None
    return f"PDF, {pages} page"


def text(file: Path) -> str:
    words = file.read_bytes().decode("utf-8", "replace").strip()
    demand(bool(words) and not {"\ufffd", "\0"} & set(words), f"{file} is no text")
    return f'"{words[:40]} …"'


def demand(holds: bool, otherwise: str) -> None:
    """Raise what is wrong, also where Python leaves out assertions."""
    if not holds:
        raise NotAsSaid(otherwise)
