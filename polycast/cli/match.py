"""``polycast match``: tell which subscriptions want which event."""

import sys
from contextlib import nullcontext
from typing import Annotated

import typer

from polycast.cli import streams
from polycast.errors import BadInput


def match(
    subscriptions: Annotated[
        str, typer.Option(metavar="FILE", help="Subscriptions, a JSON object to a line; - for standard input.")
    ],
    events: Annotated[
        str, typer.Option(metavar="FILE", help="CloudEvents, a JSON object to a line; - for standard input.")
    ],
) -> None:
    """Tell which subscriptions want which event.

    Prints a line for every event, in order: its id, and the ids of the subscriptions that accept it, in the order
    of their file. Nothing is printed if any line of the two files is bad. docs/match.md explains subscriptions,
    filters and events, with an example.
    """
    if subscriptions == events == "-":
        raise BadInput("--events", "standard input cannot be the subscriptions and the events, too")
    from polycast.interest.dialects import attributes_of
    from polycast.interest.document import Match, read_events, read_subscriptions
    from polycast.interest.index import MatchIndex

    with streams.opened(subscriptions) as wishes, streams.opened(events) as happened:
        where = streams.name(events)
        with streams.progress() as show:
            lines = streams.lines(wishes, show, "reading subscriptions")
            index = MatchIndex.of(read_subscriptions(lines, streams.name(subscriptions)))
            for _ in read_events(streams.lines(happened, show, "checking events"), where):
                pass
        # Where the answers appear on the same terminal, they are progress enough.
        with nullcontext() if sys.stdout.isatty() else streams.progress() as show:
            for event in read_events(streams.lines(happened, show, "matching"), where):
                streams.answer(Match(event.id, index.match(attributes_of(event))))
