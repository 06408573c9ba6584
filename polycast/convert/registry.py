"""Which tool makes which form from which: ours, and those that other packages bring.

A package adds tools with an entry point in the group ``polycast.tools`` that names a ``Tool`` or a sequence of
them.
"""

from functools import cache
from importlib.metadata import entry_points

import msgspec

from polycast.convert import media
from polycast.errors import BadInput, NoSolution
from polycast.model.format import Format

GROUP = "polycast.tools"


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
    """

    name: str
    version: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    entry: str
    part: str | None = None

    def makes(self, source: Format, target: Format) -> bool:
        """Whether it can make the one form from the other."""
        if media.essence(source) not in self.sources or media.essence(target) not in self.targets:
            return False
        had, wanted = media.parameter(source, "part"), media.parameter(target, "part")
        return wanted == (self.part or had) and had in (None, wanted)


_HERE = "polycast.convert.tools"
_TOOLS = (
    # name, version, part, sources, targets, entry
    ("pdf-to-picture", "1", None, (media.PDF,), media.PICTURES, "document:to_picture"),
    ("pdf-to-text", "1", None, (media.PDF,), (media.TEXT,), "document:to_text"),
    ("pdf-to-annotation", "1", "annotation", (media.PDF,), (media.TEXT,), "document:to_text"),
    ("picture", "1", None, media.PICTURES, media.PICTURES, "picture:convert"),
    ("speech", "1", None, (media.TEXT,), media.SOUNDS, "speech:speak"),
    ("announcement", "1", "annotation", (media.TEXT,), media.SOUNDS, "speech:speak"),
    ("video", "1", None, media.VIDEOS, media.VIDEOS, "av:convert"),
    ("soundtrack", "1", None, media.VIDEOS, media.SOUNDS, "av:convert"),
    ("poster", "1", None, media.VIDEOS, (media.JPEG, media.PNG, media.WEBP), "av:convert"),
    ("contact-sheet", "1", "contact-sheet", media.VIDEOS, (media.JPEG, media.PNG, media.WEBP), "av:convert"),
    ("sound", "1", None, media.SOUNDS, media.SOUNDS, "av:convert"),
    ("table", "1", None, media.TABLES, media.TABLES, "data:convert"),
)
BUILT_IN = tuple(
    Tool(name=name, version=version, part=part, sources=sources, targets=targets, entry=f"{_HERE}.{entry}")
    for name, version, part, sources, targets, entry in _TOOLS
)


@cache
def tools() -> tuple[Tool, ...]:
    """Every tool: those of other packages first, so that they can replace ours."""
    return (*_from_entry_points(), *BUILT_IN)


def find(source: Format, target: Format) -> Tool:
    """The tool that makes the one form from the other; ``NoSolution`` if there is none."""
    for tool in tools():
        if tool.makes(source, target):
            return tool
    raise NoSolution(f'no tool makes "{target.name}" from "{source.name}"')


def exists(source: Format, target: Format) -> bool:
    """Whether some tool makes the one form from the other."""
    return any(tool.makes(source, target) for tool in tools())


def _from_entry_points() -> list[Tool]:
    found: list[Tool] = []
    for point in entry_points(group=GROUP):
        loaded = point.load()
        brought = [loaded] if isinstance(loaded, Tool) else list(loaded)
        if not all(isinstance(tool, Tool) for tool in brought):
            raise BadInput(f"entry point {point.name}", f"{point.value} is not a Tool or a sequence of them")
        found += brought
    return found
