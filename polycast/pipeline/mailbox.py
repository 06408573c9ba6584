"""The mailbox: a folder for each subscriber, with every delivery as a file, and beside it a note that tells of it.

A delivery is there when its note is there. It is named by publication, broker and form: the same delivery, however
often it is repeated, is one file.
"""

import mimetypes
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from polycast.convert.store import ContentStore
from polycast.errors import BadInput
from polycast.home import Home, file_name, flush, written
from polycast.model import codec
from polycast.model.media import parse_media_type
from polycast.model.publication import Scalar

VERSION = 1
NOTE = ".delivery.json"
_SUFFIXES = {
    "audio/wav": ".wav",
    "audio/amr": ".amr",
    "audio/ogg": ".ogg",
    "video/3gpp": ".3gp",
    "application/vnd.apache.parquet": ".parquet",
    "application/cloudevents+json": ".json",
}


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a delivery, beside it.

    Parameters
    ----------
    file
        Its name, in the same folder.
    event
        The attributes of the event that was published.
    """

    publication: str
    subscription: str
    broker: str
    form: str
    media_type: str | None
    digest: str
    size: int
    file: str
    event: Mapping[str, Scalar]
    version: int = VERSION


class Mailboxes:
    """The mailboxes of a home."""

    def __init__(self, home: Home, store: ContentStore) -> None:
        self._home = home
        self._store = store

    def deliver(self, delivery: Delivered) -> bool:
        """Lay a delivery into its subscriber's mailbox, whole or not at all. False if it was there already."""
        folder = self._home.mailbox(delivery.subscription)
        told = folder / f"{delivery.file}{NOTE}"
        if _is_whole(told):
            return False
        with written(folder / delivery.file, self._home.scratch) as out:
            out.writelines(self._store.stream(delivery.digest))
        with written(told, self._home.scratch) as out:
            out.write(codec.encode(delivery))
        return True

    def flush(self) -> None:
        """Let what was delivered last through a power cut."""
        if self._home.mailboxes.exists():
            flush(self._home.mailboxes)


def _is_whole(note: Path) -> bool:
    """Whether a delivery is there: a power cut leaves torn files. One that its subscriber has taken was there."""
    try:
        told = codec.decode(note.read_bytes(), Delivered, str(note))
        return note.with_name(told.file).stat().st_size == told.size
    except BadInput:
        return False
    except FileNotFoundError:
        return note.exists()


def name_of(publication: str, broker: str, form: str, media_type: str | None) -> str:
    """The name of a delivery's file."""
    return file_name(publication, broker, form) + suffix_of(media_type)


def suffix_of(media_type: str | None) -> str:
    """The ending that files of a media type usually have."""
    if media_type is None:
        return ".bin"
    known = parse_media_type(media_type)
    plain = f"{known.type}/{known.subtype}"
    return _SUFFIXES.get(plain) or mimetypes.guess_extension(plain) or ".bin"


def deliveries(home: Home, publication: str | None = None) -> Iterator[Delivered]:
    """What lies in the mailboxes: everything, or of one publication."""
    for note in sorted(home.mailboxes.glob(f"*/{f'{publication}.' if publication else ''}*{NOTE}")):
        yield codec.decode(note.read_bytes(), Delivered, str(note))
