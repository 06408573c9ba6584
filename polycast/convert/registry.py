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
        Only for forms whose media type has this parameter ``part``, as in ``text/plain; part=annotation``.
    """

    name: str
    version: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    entry: str
    part: str | None = None

    def makes(self, source: Format, target: Format) -> bool:
        """Whether it can make the one form from the other."""
        return (
            media.essence(source) in self.sources
            and media.essence(target) in self.targets
            and self.part == media.parameter(target, "part")
        )


_HERE = "polycast.convert.tools"
BUILT_IN = (
    Tool(
        name="pdf-to-picture",
        version="1",
        sources=(media.PDF,),
        targets=(media.JPEG, media.PNG, media.WEBP, media.AVIF),
        entry=f"{_HERE}.document:to_picture",
    ),
    Tool(
        name="pdf-to-text",
        version="1",
        sources=(media.PDF,),
        targets=(media.TEXT,),
        entry=f"{_HERE}.document:to_text",
    ),
    Tool(
        name="pdf-to-annotation",
        version="1",
        sources=(media.PDF,),
        targets=(media.TEXT,),
        entry=f"{_HERE}.document:to_text",
        part="annotation",
    ),
    Tool(
        name="picture",
        version="1",
        sources=media.PICTURES,
        targets=media.PICTURES,
        entry=f"{_HERE}.picture:convert",
    ),
    Tool(
        name="text-to-speech",
        version="1",
        sources=(media.TEXT,),
        targets=(media.WAV,),
        entry=f"{_HERE}.speech:speak",
    ),
    Tool(
        name="text-to-announcement",
        version="1",
        sources=(media.TEXT,),
        targets=(media.WAV,),
        entry=f"{_HERE}.speech:speak",
        part="annotation",
    ),
    Tool(
        name="video",
        version="1",
        sources=media.VIDEOS,
        targets=media.VIDEOS,
        entry=f"{_HERE}.video:convert",
    ),
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
