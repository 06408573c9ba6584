"""The inbox: a folder of CloudEvents, one JSON file to an event, with its content inside or beside it.

Content beside is named by the attribute ``dataref``, as a path from the event's own folder that never leads out of
the inbox. Content is written first and the event last, by renaming, so that whoever sees the event sees all of it.
"""

import mimetypes
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from polycast.convert import magic
from polycast.errors import BadInput
from polycast.home import written
from polycast.model import cloudevents, codec
from polycast.model.publication import Event, Scalar

EVENTS = "*.json"
CONTENT = "content"
"""The folder in the inbox whose files belong to one event each and go with it; no events are looked for in it."""
REFERENCE = "dataref"

UNKNOWN_TYPE = "application/octet-stream"
JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain"


class Announced(NamedTuple):
    """The content of an event, as a file or as bytes, and its media type."""

    content: Path | bytes
    media_type: str


def put(inbox: Path, attributes: Mapping[str, Scalar], content: Path) -> Path:
    """Publish a file: lay a copy into the inbox, and an event that announces it. Returns the event's file."""
    kind = {} if "datacontenttype" in attributes else {"datacontenttype": media_type_of(content)}
    event = Event({**attributes, **kind})
    name = f"{CONTENT}/{event.key}{content.suffix}"
    with written(inbox / name) as out, content.open("rb") as file:
        shutil.copyfileobj(file, out)
    return put_event(inbox, Event({**event.attributes, REFERENCE: quote(name)}))


def put_event(inbox: Path, event: Event) -> Path:
    """Lay an event into the inbox, under a name that it shares with no other."""
    path = inbox / f"{event.key}-{uuid.uuid4().hex[:8]}.json"
    with written(path) as out:
        out.write(codec.encode(cloudevents.write_event(event)))
    return path


def read(path: Path) -> Event:
    """The event in a file of the inbox."""
    return cloudevents.read_event(codec.parse(path.read_bytes(), path.name), path.name)


def announced(event: Event, inbox: Path) -> Announced:
    """The content of an event; an event without any is its own content."""
    declared = event.attributes.get("datacontenttype")
    if event.data is not None and REFERENCE not in event.attributes:
        return _inside(event, None if declared is None else str(declared))
    if REFERENCE in event.attributes:
        content = beside(event, inbox)
        return Announced(content, str(declared or media_type_of(content)))
    return Announced(codec.encode(cloudevents.write_event(event)), cloudevents.STRUCTURED)


def beside(event: Event, inbox: Path) -> Path:
    """The file that ``dataref`` names; none outside of the inbox is ever opened."""
    reference = str(event.attributes.get(REFERENCE, ""))
    path = (inbox / unquote(reference)).resolve()
    if re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", reference) or not path.is_relative_to(inbox.resolve()):
        raise BadInput(REFERENCE, f"{reference!r:.80} is not a path within the inbox")
    if not path.is_file():
        raise BadInput(REFERENCE, f"there is no file {reference!r:.80} in the inbox")
    return path


def _inside(event: Event, declared: str | None) -> Announced:
    if isinstance(event.data, bytes):
        return Announced(event.data, declared or UNKNOWN_TYPE)
    if isinstance(event.data, str) and declared is not None and not cloudevents.is_json(declared):
        return Announced(event.data.encode(), declared)
    return Announced(codec.encode(event.data), declared or JSON_TYPE)


def settle(path: Path, into: Path) -> None:
    """Take an event that has been dealt with out of the inbox; content of its own, in the store by now, goes."""
    with suppress(OSError, BadInput):
        event = read(path)
        content = beside(event, path.parent)
        if content.parent == (path.parent / CONTENT).resolve():
            content.unlink(missing_ok=True)
    move(path, into)


def move(path: Path, into: Path) -> None:
    """Move one file out of the inbox; where its name is taken, it gets a number."""
    into.mkdir(parents=True, exist_ok=True)
    target, number = into / path.name, 1
    while target.exists():
        target, number = into / f"{path.stem}-{number}{path.suffix}", number + 1
    with suppress(FileNotFoundError):
        path.rename(target)


def media_type_of(content: Path) -> str:
    """What a file is, as far as its first bytes or its name tell."""
    guessed, compressed = mimetypes.guess_type(content.name)
    return magic.guess(content) or (None if compressed else guessed) or UNKNOWN_TYPE
