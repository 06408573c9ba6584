"""The files of ``polycast match``: subscriptions, and events, one JSON document to a line."""

from collections.abc import Iterable, Iterator

import msgspec

from polycast.errors import BadInput
from polycast.interest.cesql import Expression
from polycast.interest.dialects import subscription_expression
from polycast.model import codec
from polycast.model.cloudevents import read_event
from polycast.model.publication import Event
from polycast.model.subscription import read_subscription


class Match(msgspec.Struct, frozen=True):
    """The answer for one event: who wants it."""

    event: str
    subscriptions: list[str]


def read_subscriptions(file: Iterable[bytes], where: str) -> Iterator[tuple[str, Expression]]:
    """The id of each subscription of a file and what it accepts, one by one; ``BadInput`` at a bad line."""
    known: set[str] = set()
    for place, document in codec.parse_lines(file, where):
        subscription = read_subscription(document, place)
        if subscription.id in known:
            raise BadInput(place, f'a second subscription with the id "{subscription.id}"')
        known.add(subscription.id)
        yield subscription.id, subscription_expression(subscription, place)


def read_events(file: Iterable[bytes], where: str) -> Iterator[Event]:
    """The events of a file one by one; ``BadInput`` at a bad line."""
    for place, document in codec.parse_lines(file, where):
        yield read_event(document, place)
