"""``polycast publish``: lay a file into the inbox, with an event that announces it."""

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from polycast.cli import streams
from polycast.cli.settings import HomeOption


def publish(
    file: Annotated[Path, typer.Argument(help="What is published: a map, a picture, a video, a text …")],
    type: Annotated[str, typer.Option("--type", "-t", help="The event's type, as in org.example.map.")],
    source: Annotated[str, typer.Option(help="Who publishes: a URI reference.")] = "/local",
    id: Annotated[
        str | None, typer.Option(help="Names the event within its source; by default a name of its own.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    media_type: Annotated[
        str | None, typer.Option(help="By default as the first bytes of the file, or its name, tell.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", "-a", help="Any other attribute, as in severity=high. Can be repeated."),
    ] = None,
    home: HomeOption = None,
) -> None:
    """Publish a file: the pipeline that works on the same home delivers it.

    A copy of the file is laid into the inbox, and beside it a CloudEvent in JSON with the attributes given here,
    which subscriptions choose by. Prints, as JSON, the key of the publication and where the event is.
    docs/pipeline.md tells what else can be put into the inbox.
    """
    from polycast.errors import BadInput
    from polycast.model.publication import Event
    from polycast.pipeline import inbox
    from polycast.settings import read_settings

    if not file.is_file():
        raise BadInput(str(file), "there is no such file")
    attributes = {
        "id": id or f"{file.stem}-{uuid.uuid4().hex[:8]}",
        "source": source,
        "specversion": "1.0",
        "type": type,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        **({} if subject is None else {"subject": subject}),
        **({} if media_type is None else {"datacontenttype": media_type}),
        **dict(_attribute(text) for text in attribute or ()),
    }
    event = Event(attributes)
    path = inbox.put(read_settings(home=home).folders.inbox, event, file)
    streams.answer({"publication": event.key, "event": str(path)})


def _attribute(text: str) -> tuple[str, str]:
    from polycast.errors import BadInput

    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput("--attribute", f"{text!r:.80} is not of the form NAME=VALUE")
    return name, value
