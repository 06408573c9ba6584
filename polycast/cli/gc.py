"""``polycast gc``: keep a content store to a size."""

from typing import Annotated

import typer

from polycast.cli import streams


def gc(
    store: Annotated[str, typer.Argument(help="The folder or URL of the store.")],
    most: Annotated[str, typer.Option(help="Bytes that may stay, as in 500M or 10G.")],
    spare: Annotated[
        float, typer.Option(min=0, help="Nothing used within so many seconds goes; it may be in work.")
    ] = 3600.0,
) -> None:
    """Let go of what was used longest ago, until a content store is small enough.

    What was converted is made again when somebody asks for it; what was published is gone. Prints how many
    contents went, and the bytes that went and stayed. docs/conversion.md tells more.
    """
    from polycast.convert.memory import Memory
    from polycast.convert.store import ContentStore
    from polycast.convert.task import quantity

    opened = ContentStore(store)
    gone = opened.collect(most_bytes=int(quantity(most, "--most")), spare=spare)
    Memory(opened).sweep()
    left = sum(item.size for item in opened.items())
    streams.answer({"removed": gone.contents, "removed_bytes": gone.bytes, "left_bytes": left})
