"""Media types: the essence that says which tool reads or writes a form, and their parameters."""

import mimetypes
from email.message import Message
from functools import lru_cache
from pathlib import Path

from polycast.errors import BadInput
from polycast.model.format import Format

PDF = "application/pdf"
TEXT = "text/plain"
JPEG, PNG, WEBP, AVIF, GIF = "image/jpeg", "image/png", "image/webp", "image/avif", "image/gif"
MP4, AVI, FLV, THREEGP, WEBM = "video/mp4", "video/x-msvideo", "video/x-flv", "video/3gpp", "video/webm"
WAV, MP3, OPUS, AAC, AMR = "audio/wav", "audio/mpeg", "audio/ogg", "audio/aac", "audio/amr"
JSON, CSV, PARQUET, ARROW = (
    "application/json",
    "text/csv",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.file",
)

PICTURES = (JPEG, PNG, WEBP, AVIF, GIF)
VIDEOS = (MP4, AVI, FLV, THREEGP, WEBM)
SOUNDS = (WAV, MP3, OPUS, AAC, AMR)
TABLES = (JSON, CSV, PARQUET, ARROW)

EXTENSIONS = {PDF: "pdf", TEXT: "txt"}
EXTENSIONS |= zip(PICTURES, ("jpg", "png", "webp", "avif", "gif"), strict=True)
EXTENSIONS |= zip(VIDEOS, ("mp4", "avi", "flv", "3gp", "webm"), strict=True)
EXTENSIONS |= zip(SOUNDS, ("wav", "mp3", "opus", "aac", "amr"), strict=True)
EXTENSIONS |= zip(TABLES, ("json", "csv", "parquet", "arrow"), strict=True)
"""How the names of files end, by media type."""


def extension(format: Format) -> str:
    """How the name of a file in this form ends, without the dot."""
    kind = essence(format)
    return EXTENSIONS.get(kind) or (mimetypes.guess_extension(kind) or ".bin").removeprefix(".")


def of_name(path: Path) -> str | None:
    """The media type that a file's name tells; None if it tells none."""
    ending = path.suffix.lower().removeprefix(".")
    ours = {known: kind for kind, known in EXTENSIONS.items()} | {"jpeg": JPEG, "ogg": OPUS, "jsonl": JSON}
    return ours.get(ending) or mimetypes.guess_type(path.name)[0]


def essence(format: Format) -> str:
    """The media type of a format without its parameters, as in ``video/mp4``."""
    return _parse(_media_type(format))[0]


def kind(format: Format) -> str:
    """What a form is in kind: ``image``, ``video``, ``audio``, ``text`` or ``application``."""
    return essence(format).partition("/")[0]


def parameter(format: Format, name: str) -> str | None:
    """One parameter of a format's media type, as in ``codecs``."""
    return _parse(_media_type(format))[1].get(name)


def _media_type(format: Format) -> str:
    if format.media_type is None:
        raise BadInput(f'format "{format.name}"', "it has no media_type, so no tool can read or write it")
    return format.media_type


@lru_cache(1024)
def _parse(media_type: str) -> tuple[str, dict[str, str]]:
    message = Message()
    message["Content-Type"] = media_type
    parameters = message.get_params(failobj=[])
    return message.get_content_type(), {name.lower(): value for name, value in parameters[1:]}
