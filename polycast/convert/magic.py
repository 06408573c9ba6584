"""What content looks like from its first bytes, beside what it is declared to be."""

from pathlib import Path

from polycast.convert import media
from polycast.errors import Unreadable
from polycast.model.format import Format

HEAD = 512

# The bytes with which content of each type begins, and where; several pairs must all hold.
_SIGNATURES: tuple[tuple[str, tuple[tuple[int, bytes], ...]], ...] = (
    (media.PDF, ((0, b"%PDF-"),)),
    (media.JPEG, ((0, b"\xff\xd8\xff"),)),
    (media.PNG, ((0, b"\x89PNG\r\n\x1a\n"),)),
    (media.GIF, ((0, b"GIF8"),)),
    (media.WEBP, ((0, b"RIFF"), (8, b"WEBP"))),
    (media.AVIF, ((4, b"ftypavif"),)),
    (media.AVIF, ((4, b"ftypavis"),)),
    (media.THREEGP, ((4, b"ftyp3g"),)),
    (media.MP4, ((4, b"ftyp"),)),
    (media.AVI, ((0, b"RIFF"), (8, b"AVI "))),
    (media.FLV, ((0, b"FLV\x01"),)),
    (media.WEBM, ((0, b"\x1a\x45\xdf\xa3"),)),
    (media.WAV, ((0, b"RIFF"), (8, b"WAVE"))),
    (media.MP3, ((0, b"ID3"),)),
    (media.OPUS, ((0, b"OggS"),)),
    (media.AMR, ((0, b"#!AMR\n"),)),
    (media.PARQUET, ((0, b"PAR1"),)),
    (media.ARROW, ((0, b"ARROW1"),)),
)
_KNOWN = {kind for kind, _ in _SIGNATURES} | {media.AAC}
# 3gp is mp4 under another brand; the same reader opens both.
_ALIKE = {media.THREEGP: media.MP4}
_WORDS = (media.TEXT, media.JSON, media.CSV)


def guess(content: Path) -> str | None:
    """The media type that content seems to have; None if its first bytes tell nothing."""
    return _guess(_head(content))


def guess_words(content: Path) -> str | None:
    """``text/plain`` for content that can be read as UTF-8 text."""
    head = _head(content)
    text = head.decode("utf-8", "ignore")  # a letter may be cut in two at the end
    return media.TEXT if head and "\0" not in text and len(head) - len(text.encode()) < 4 else None


def check(content: Path, source: Format) -> None:
    """``Unreadable`` if the content is empty, or begins like something other than what it is declared to be."""
    head = _head(content)
    if not head:
        raise Unreadable("no content: the file has zero bytes")
    if source.media_type is None:
        return
    declared, seen = media.essence(source), _guess(head)
    if declared in _WORDS and (seen is not None or b"\0" in head):
        raise Unreadable(f"declared {declared}, but looks like {seen or 'no text'}")
    if declared in _KNOWN and _ALIKE.get(declared, declared) != _ALIKE.get(seen or "", seen):
        raise Unreadable(f"declared {declared}, but looks like {seen or 'something else'}")


def _head(content: Path) -> bytes:
    with content.open("rb") as file:
        return file.read(HEAD)


def _guess(head: bytes) -> str | None:
    for kind, marks in _SIGNATURES:
        if all(head[place : place + len(mark)] == mark for place, mark in marks):
            return kind
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return media.AAC
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        return media.MP3
    return None
