"""Content graphs by name: those that are shipped, measured, and those of the user's own files."""

import json
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.format import ContentGraph

_SHIPPED = files("polycast.convert") / "shipped"


def names() -> tuple[str, ...]:
    """The graphs that come with Polycast."""
    return tuple(
        sorted(item.name.removesuffix(".json") for item in _SHIPPED.iterdir() if item.name.endswith(".json"))
    )


def load(name_or_path: str | Path) -> ContentGraph:
    """A shipped graph by its name, or the graph in a file."""
    if str(name_or_path) in names():
        data = (_SHIPPED / f"{name_or_path}.json").read_bytes()
    else:
        data = _read(Path(name_or_path))
    return codec.decode(data, ContentGraph, str(name_or_path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        shipped = ", ".join(names())
        raise BadInput(str(path), f"{error.strerror or error}; the shipped graphs are {shipped}") from None


def written(graph: ContentGraph, how: str = "") -> bytes:
    """A graph as a file that people can read: a line for every form and every operator."""
    lines = [f'{{"version": {graph.version},']
    if graph.measured is not None:
        lines.append(f' "measured": {_line(replace(graph.measured, how=how or graph.measured.how))},')
    for key, items in (("formats", graph.formats), ("operators", graph.operators)):
        lines.append(f' "{key}": [\n' + ",\n".join(f"  {_line(item)}" for item in items) + "\n ],")
    return ("\n".join(lines).rstrip(",") + "\n}\n").encode()


def _line(item: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(item), ensure_ascii=False)
