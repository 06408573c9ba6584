"""How much there is of a content: its pages, or its seconds, and how large its picture is."""

import msgspec

from polycast.convert import media
from polycast.convert.task import Task
from polycast.convert.tools import document
from polycast.convert.tools.probe import probe


class Extent(msgspec.Struct, frozen=True):
    """Pages or seconds of a content. What cannot be counted so has no unit."""

    unit: str | None = None
    amount: float = 1.0
    width: int | None = None
    height: int | None = None


def tell(task: Task) -> None:
    """Write the extent of the content as JSON."""
    task.outputs[0].path.write_bytes(msgspec.json.encode(_extent(task)))


def _extent(task: Task) -> Extent:
    kind = media.essence(task.source)
    if kind == media.PDF:
        with document.opened(task.content, task.limits) as pages:
            return Extent("page", float(len(pages)))
    if kind in media.VIDEOS or kind in media.SOUNDS:
        held = probe(task.content, kind, task.limits)
        unit = "second" if held.duration else None
        return Extent(unit, held.duration or 1.0, held.width or None, held.height or None)
    return Extent()
