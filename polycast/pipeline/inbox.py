"""The inbox: a folder of CloudEvents, one JSON file to an event, with its content inside or beside it.

Content beside is named by the attribute ``dataref``, as a path from the event's own folder that never leads out of
the inbox. Content is written first and the event last, by renaming, so that whoever sees the event sees all of it.
"""

import mimetypes
import os
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

EVENTS = ".json"
LARGEST = 64_000_000
"""Bytes of an event. Larger content belongs beside it: what is inside has to be held in memory, more than once."""
LARGEST_ATTRIBUTES = 64_000
"""Bytes of all attributes together, as CloudEvents has it; they go wherever the publication goes."""
CONTENT = "content"
"""The folder in the inbox whose files belong to one event each and go with it; no events are looked for in it."""
REFERENCE = "dataref"

UNKNOWN_TYPE = "application/octet-stream"
JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain"


_NOT_UTF8 = re.compile("[\ud800-\udfff]")


class Announced(NamedTuple):
    """The content of an event, as a file or as bytes, and its media type."""

    content: Path | bytes
    media_type: str


def put(inbox: Path, event: Event, content: Path) -> Path:
    """Publish a file: lay a copy into the inbox, and an event that announces it. Returns the event's file.

    From then on the publication is not lost, whatever happens, power cuts included.
    """
    _check_attributes(event, "event")
    kind = {} if "datacontenttype" in event.attributes else {"datacontenttype": media_type_of(content)}
    name = f"{CONTENT}/{event.key}-{uuid.uuid4().hex[:8]}{content.suffix}"
    with written(inbox / name, lasting=True) as out, content.open("rb") as file:
        shutil.copyfileobj(file, out)
    return put_event(inbox, Event({**event.attributes, **kind, REFERENCE: quote(name)}))


def put_event(inbox: Path, event: Event) -> Path:
    """Lay an event into the inbox, under a name that it shares with no other."""
    _check_attributes(event, "event")
    path = inbox / f"{event.key}-{uuid.uuid4().hex[:8]}.json"
    with written(path, lasting=True) as out:
        out.write(codec.encode(cloudevents.write_event(event)))
    return path


def waiting(inbox: Path, most: int | None = None) -> list[Path]:
    """The events that wait, the oldest first. Only plain files count: a link may lead anywhere."""
    found = {}
    with suppress(FileNotFoundError), os.scandir(inbox) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if _is_event(entry):
                    found[entry.name] = entry.stat(follow_symlinks=False).st_mtime_ns
    oldest = sorted(found, key=lambda name: (found[name], name))
    return [inbox / name for name in oldest[:most]]


def _is_event(entry: os.DirEntry[str]) -> bool:
    named = entry.name.endswith(EVENTS) and not entry.name.startswith(".") and not _NOT_UTF8.search(entry.name)
    return named and entry.is_file(follow_symlinks=False)


def read(path: Path) -> Event:
    """The event in a file of the inbox."""
    if path.stat().st_size > LARGEST:
        raise BadInput(path.name, f"an event of more than {LARGEST / 1e6:g} MB; put its content beside it")
    event = cloudevents.read_event(codec.parse(path.read_bytes(), path.name), path.name)
    _check_attributes(event, path.name)
    return event


def _check_attributes(event: Event, where: str) -> None:
    if len(codec.encode(event.attributes)) > LARGEST_ATTRIBUTES:
        raise BadInput(where, f"attributes of more than {LARGEST_ATTRIBUTES / 1e3:g} kB in all")


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
    is_url = re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", reference)
    try:
        path = (inbox / unquote(reference)).resolve()
        is_there = path.is_file()
    except (OSError, ValueError, RuntimeError):  # no file can be called so, or links lead in a circle
        path, is_there = None, False
    if is_url or path is None or not path.is_relative_to(inbox.resolve()):
        raise BadInput(REFERENCE, f"{reference!r:.80} is not a path within the inbox")
    if not is_there:
        raise BadInput(REFERENCE, f"there is no file {reference!r:.80} in the inbox")
    return path


def _inside(event: Event, declared: str | None) -> Announced:
    if isinstance(event.data, bytes):
        return Announced(event.data, declared or UNKNOWN_TYPE)
    if isinstance(event.data, str) and declared is not None and not cloudevents.is_json(declared):
        return Announced(event.data.encode(), declared)
    return Announced(codec.encode(event.data), declared or JSON_TYPE)


def public(attributes: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """What a subscriber may know of an event: where its content lay in the inbox tells nobody anything."""
    return {name: value for name, value in attributes.items() if name != REFERENCE}


def settle(path: Path, into: Path) -> None:
    """Take an event that has been dealt with out of the inbox; content of its own, in the store by now, goes."""
    clear_content(path)
    move(path, into)


def clear_content(path: Path) -> None:
    """Remove the content beside an event, if it is the event's own."""
    with suppress(OSError, BadInput):
        event = read(path)
        content = beside(event, path.parent)
        if content.parent == (path.parent / CONTENT).resolve():
            content.unlink(missing_ok=True)


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
