"""Maps and documents: PDF to a picture, to its text, or to its first annotation (pypdfium2)."""

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from polycast.convert import media
from polycast.convert.task import Limits, Output, Task
from polycast.convert.tools import picture
from polycast.errors import TooLarge, Unreadable
from polycast.model.format import Format

POINTS_PER_INCH = 72.0
DEFAULT_DPI = 150.0
SPOKEN = (pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_HIGHLIGHT)


def to_picture(task: Task) -> None:
    """Draw the first page once, as large as the largest picture wanted, and write each in its own size."""
    with opened(task.content, task.limits) as document:
        page = document[0]
        scales = [_clamped(page, _scale(page, output.format), task.limits) for output in task.outputs]
        image = page.render(scale=max(scales)).to_pil()
        sizes = [_pixels(page, scale) for scale in scales]
    for done, (output, pixels) in enumerate(zip(task.outputs, sizes, strict=True), start=1):
        picture.write(picture.resized(image, pixels), output)
        task.progress(done / len(task.outputs))


def to_text(task: Task) -> None:
    """Write the annotations and then the text of every page; or of the first annotation alone."""
    with opened(task.content, task.limits) as document:
        for output in task.outputs:
            alone = media.parameter(output.format, "part") == "annotation"
            _write_text(document, output, task, alone)


@contextmanager
def opened(content: Path, limits: Limits) -> Iterator[pypdfium2.PdfDocument]:
    """A document whose pages are counted before anything is drawn, and whatever is damaged in it named as such."""
    try:
        with pypdfium2.PdfDocument(content) as document:
            pages = len(document)
            if pages == 0:
                raise Unreadable("a PDF without pages")
            if pages > limits.pages:
                raise TooLarge(f"{pages} pages are more than {limits.pages}")
            yield document
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"cannot be read as a PDF: {error}") from None


def annotations(page: pypdfium2.PdfPage) -> Iterator[str]:
    """What the notes on a page say, in their order, each with its title."""
    for position in range(pdfium.FPDFPage_GetAnnotCount(page)):
        note = pdfium.FPDFPage_GetAnnot(page, position)
        if pdfium.FPDFAnnot_GetSubtype(note) in SPOKEN:
            parts = [_string(note, b"T"), _string(note, b"Contents")]
            words = ": ".join(part for part in parts if part)
            if words:
                yield words
        pdfium.FPDFPage_CloseAnnot(note)


def _string(note: object, key: bytes) -> str:
    length = pdfium.FPDFAnnot_GetStringValue(note, key, None, 0)
    buffer = ctypes.create_string_buffer(length)
    letters = ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR))
    pdfium.FPDFAnnot_GetStringValue(note, key, letters, length)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").replace("\0", " ").split())


def size(page: pypdfium2.PdfPage) -> tuple[float, float]:
    """Width and height of a page in points."""
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        raise Unreadable("a page without a size")
    return float(width), float(height)


def _scale(page: pypdfium2.PdfPage, format: Format) -> float:
    width, height = size(page)
    if format.width is None and format.height is None:
        return (format.dpi or DEFAULT_DPI) / POINTS_PER_INCH
    return min((format.width or 1e9) / width, (format.height or 1e9) / height)


def _pixels(page: pypdfium2.PdfPage, scale: float) -> tuple[int, int]:
    """How large a page is drawn."""
    width, height = size(page)
    return math.ceil(width * scale), math.ceil(height * scale)


def _clamped(page: pypdfium2.PdfPage, scale: float, limits: Limits) -> float:
    """A page may claim any size: it is drawn no larger than the pixels allow."""
    width, height = size(page)
    return min(scale, math.sqrt(limits.pixels / (width * height)))


def _write_text(document: pypdfium2.PdfDocument, output: Output, task: Task, alone: bool) -> None:
    with output.path.open("w", encoding="utf-8") as out:
        for number, page in enumerate(document, start=1):
            for words in annotations(page):
                out.write(words + "\n\n")
                if alone:
                    return
            if not alone:
                text = page.get_textpage().get_text_bounded()
                out.write(text.replace("\r\n", "\n").strip() + "\n\n")
            task.progress(number / len(document))
    if alone:
        raise Unreadable("no annotation in this document")
