"""``polycast formats`` and ``polycast operators``: what there is to convert, and by what."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer

from polycast.cli import streams
from polycast.model.format import Format

AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


def formats(
    source: Annotated[
        str | None, typer.Option("--from", help="Only what can be made of this: a format, or a file.")
    ] = None,
    json: AsJson = False,
) -> None:
    """List the formats that content can be converted to, by the names that `polycast convert --to` takes.

    Pictures and videos may have any size (jpg-800, mp4-600), pages any fineness (png-300dpi), videos and sounds
    any bit rate (mp4-600-800k, mp3-64k), speech any language that espeak-ng speaks (speech-de).
    """
    from polycast.convert import catalogue, routes

    known: Sequence[Format] = catalogue.formats()
    if source is not None:
        graph = routes.graph_for(_form(source), known)
        reached = graph.cheapest_chains([routes.ORIGINAL])
        known = [format for format in known if format.name in reached]
    if json:
        streams.answer([_described(format) for format in known])
        return
    head = ("format", "media type", "fits into", "bit rate", "quality")
    streams.table(head, [_row(format) for format in known])


def operators(json: AsJson = False) -> None:
    """List the conversions: each is a tool that makes any of its targets from any of its sources.

    Tools of other packages come first, and go before ours where both could run. docs/conversion.md tells how to
    write one.
    """
    from polycast.convert import registry

    tools = registry.tools()
    if json:
        streams.answer(tools)
        return
    head = ("operator", "from", "to", "version")
    streams.table(
        head, [(tool.name, _listed(tool.sources), _listed(tool.targets), tool.version) for tool in tools]
    )


def _form(source: str) -> Format:
    from pathlib import Path

    from polycast.convert import catalogue

    return catalogue.of_file(Path(source)) if Path(source).is_file() else catalogue.named(source)


def _described(format: Format) -> dict[str, object]:
    """What is known of a form before it is measured."""
    document: dict[str, object] = msgspec.to_builtins(format)
    return {key: value for key, value in document.items() if key not in ("size", "per_unit")}


def _row(format: Format) -> tuple[str, ...]:
    box = f"{format.width} × {format.height}" if format.width and format.height else ""
    rate = f"{format.bitrate / 1000:.0f} kb/s" if format.bitrate else ""
    quality = "" if format.quality is None else f"{format.quality:.2f}"
    return format.name, format.media_type or "", box, rate, quality


def _listed(kinds: Sequence[str]) -> str:
    from polycast.convert import media

    return " ".join("text" if kind == media.TEXT else media.EXTENSIONS.get(kind, kind) for kind in kinds)
