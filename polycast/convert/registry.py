"""Which tool makes which form from which: ours, and those that other packages bring.

A package adds tools with an entry point in the group ``polycast.tools`` that names a ``Tool`` or a sequence of
them, and names for forms with one in ``polycast.formats`` that names a ``Format`` or a sequence of them.
"""

from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TypeVar

import msgspec

from polycast.convert import media
from polycast.errors import BadInput, NoSolution
from polycast.model.format import Format

TOOLS, FORMATS = "polycast.tools", "polycast.formats"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's implementation: a function that runs in the sandbox.

    Parameters
    ----------
    version
        Changes whenever the tool would make other bytes from the same content; renditions are remembered by it.
    sources, targets
        The media types it reads and writes, without parameters.
    entry
        Where its function is, as ``package.module:function``. It takes a ``Task``.
    part
        Makes only a part of the content, which the media type of the target names, as in
        ``text/plain; part=annotation``. A part stays that part, and never becomes the whole again.
    grows
        Whether its work grows with the pages or the seconds of the content; False where it stops at the first.
    needs
        The packages it cannot do without; where one is not installed, there is no such tool.
    """

    name: str
    version: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    entry: str
    part: str | None = None
    grows: bool = True
    needs: tuple[str, ...] = ()

    def is_here(self) -> bool:
        """Whether all that it needs is installed."""
        return all(find_spec(package) for package in self.needs)

    def makes(self, source: Format, target: Format) -> bool:
        """Whether it can make the one form from the other."""
        if media.essence(source) not in self.sources or media.essence(target) not in self.targets:
            return False
        had, wanted = media.parameter(source, "part"), media.parameter(target, "part")
        return wanted == (self.part or had) and had in (None, wanted)


_HERE = "polycast.convert.tools"
_STILLS = (media.JPEG, media.PNG, media.WEBP)
_FIRST = ("pdf-to-picture", "pdf-to-annotation", "announcement", "announcement-encoded", "poster")
_NEEDS = {"av": ("imageio_ffmpeg",), "speech": ("espeakng_loader",)}
_ENCODED = tuple(kind for kind in media.SOUNDS if kind != media.WAV)
_TOOLS = (
    # name, version, part, sources, targets, entry
    ("pdf-to-picture", "2", None, (media.PDF,), media.PICTURES, "document:to_picture"),
    ("pdf-to-text", "1", None, (media.PDF,), (media.TEXT,), "document:to_text"),
    ("pdf-to-annotation", "1", "annotation", (media.PDF,), (media.TEXT,), "document:to_text"),
    ("picture", "2", None, media.PICTURES, media.PICTURES, "picture:convert"),
    ("speech", "1", None, (media.TEXT,), (media.WAV,), "speech:speak"),
    ("speech-encoded", "1", None, (media.TEXT,), _ENCODED, "speech:speak"),
    ("announcement", "1", "annotation", (media.TEXT,), (media.WAV,), "speech:speak"),
    ("announcement-encoded", "1", "annotation", (media.TEXT,), _ENCODED, "speech:speak"),
    ("video", "1", None, media.VIDEOS, media.VIDEOS, "av:convert"),
    ("soundtrack", "1", None, media.VIDEOS, media.SOUNDS, "av:convert"),
    ("poster", "2", None, media.VIDEOS, _STILLS, "av:convert"),
    ("contact-sheet", "2", "contact-sheet", media.VIDEOS, _STILLS, "av:convert"),
    ("sound", "1", None, media.SOUNDS, media.SOUNDS, "av:convert"),
    ("table", "2", None, media.TABLES, media.TABLES, "data:convert"),
)


def _built_in(
    name: str, version: str, part: str | None, sources: tuple[str, ...], targets: tuple[str, ...], entry: str
) -> Tool:
    needs = _NEEDS.get(entry.partition(":")[0], ())
    return Tool(
        name=name,
        version=version,
        part=part,
        sources=sources,
        targets=targets,
        entry=f"{_HERE}.{entry}",
        grows=name not in _FIRST,
        needs=(*needs, *_NEEDS["av"]) if targets is _ENCODED else needs,
    )


BUILT_IN = tuple(_built_in(*row) for row in _TOOLS)


@cache
def tools() -> tuple[Tool, ...]:
    """Every tool whose packages are installed: those of others first, so that they can replace ours."""
    return tuple(tool for tool in (*_from_entry_points(TOOLS, Tool), *BUILT_IN) if tool.is_here())


@cache
def formats() -> tuple[Format, ...]:
    """The forms that other packages have names for."""
    return tuple(_from_entry_points(FORMATS, Format))


def find(source: Format, target: Format) -> Tool:
    """The tool that makes the one form from the other; ``NoSolution`` if there is none."""
    for tool in tools():
        if tool.makes(source, target):
            return tool
    raise NoSolution(f'no tool makes "{target.name}" from "{source.name}"')


def exists(source: Format, target: Format) -> bool:
    """Whether some tool makes the one form from the other."""
    return any(tool.makes(source, target) for tool in tools())


T = TypeVar("T", Tool, Format)


def _from_entry_points(group: str, kind: type[T]) -> list[T]:
    found: list[T] = []
    for point in entry_points(group=group):
        where = f"entry point {point.name}"
        try:
            loaded = point.load()
        except Exception as error:
            raise BadInput(where, f"{point.value} does not load: {type(error).__name__}: {error}") from None
        brought = loaded if isinstance(loaded, list | tuple) else [loaded]
        if not all(isinstance(one, kind) for one in brought):
            raise BadInput(where, f"{point.value} is not a {kind.__name__} or a sequence of them")
        found += brought
    return found
