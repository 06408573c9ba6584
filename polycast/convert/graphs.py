"""Content graphs by name: those that are shipped, measured, and those of the user's own files."""

from importlib.resources import files
from pathlib import Path

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
