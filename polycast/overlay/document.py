"""The attachment problem and its answer as JSON documents: what `polycast attach` reads and writes."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
import numpy as np

from polycast.errors import BadInput
from polycast.model import codec
from polycast.overlay.attachment import Indices, Overlay
from polycast.overlay.solve import Solution

Name = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Either = bool | Annotated[int, msgspec.Meta(ge=0, le=1)]


class BrokerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    capacity: float | None = None


class UserEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    publishes: list[float]
    interest: list[Either]


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The question: brokers, users with what they publish and want, and what links cost."""

    channels: Count
    brokers: list[BrokerEntry]
    users: list[UserEntry]
    access_cost: list[list[float | None]]
    core_cost: list[list[float]]


class Answer(msgspec.Struct, frozen=True):
    """The answer; every key is always there."""

    method: str
    cost: float
    access: float
    core: float
    lower_bound: float
    over: list[str]
    seconds: float
    attachments: dict[str, str]


def read(data: bytes, where: str) -> Overlay:
    """State the problem of a JSON document."""
    instance = codec.decode(data, Instance, where)
    try:
        return _overlay(instance)
    except BadInput as error:
        raise BadInput(f"{where}, {error.where}", error.why) from None


def read_attachments(data: bytes, where: str, overlay: Overlay) -> Indices:
    """The broker of every user, from an answer of ours; only ``attachments`` is read."""
    document = codec.parse(data, where)
    if not isinstance(document, dict) or "attachments" not in document:
        raise BadInput(where, "has no attachments")
    stated = codec.convert(document["attachments"], dict[str, str], f"{where}, attachments")
    brokers = {name: position for position, name in enumerate(overlay.broker_names)}
    if unknown := stated.keys() - set(overlay.user_names):
        raise BadInput(f"{where}, attachments", f'no user is named "{min(unknown)}"')
    for user in overlay.user_names:
        if user not in stated:
            raise BadInput(f"{where}, attachments", f'the user "{user}" is missing')
        if stated[user] not in brokers:
            raise BadInput(f"{where}, attachments.{user}", f'no broker is named "{stated[user]}"')
    return np.array([brokers[stated[user]] for user in overlay.user_names], np.int32)


def answer_of(solution: Solution) -> Answer:
    """Put a solution into words."""
    attachment = solution.attachment
    overlay, cost = attachment.overlay, attachment.cost
    return Answer(
        method=solution.method,
        cost=cost.total,
        access=cost.access,
        core=cost.core,
        lower_bound=solution.lower_bound,
        over=[overlay.broker_name(broker) for broker in attachment.over],
        seconds=solution.seconds,
        attachments={
            overlay.user_name(user): overlay.broker_name(broker)
            for user, broker in enumerate(attachment.broker.tolist())
        },
    )


def _overlay(instance: Instance) -> Overlay:
    brokers, users = len(instance.brokers), len(instance.users)
    return Overlay(
        publishes=_table([user.publishes for user in instance.users], "users[{}].publishes", instance.channels),
        interest=_table([user.interest for user in instance.users], "users[{}].interest", instance.channels) > 0,
        access_cost=_table(instance.access_cost, "access_cost[{}]", brokers, rows=users, name="access_cost"),
        core_cost=_table(instance.core_cost, "core_cost[{}]", brokers, rows=brokers, name="core_cost"),
        capacity=_table([[broker.capacity for broker in instance.brokers]], "brokers", brokers)[0],
        user_names=_names(instance.users, "users"),
        broker_names=_names(instance.brokers, "brokers"),
    )


def _table(
    rows_given: list[list[Any]], where: str, columns: int, rows: int | None = None, name: str = ""
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An array of numbers; null is infinite."""
    if rows is not None and len(rows_given) != rows:
        raise BadInput(name, f"has {len(rows_given)} rows, and {rows} are needed")
    for position, row in enumerate(rows_given):
        if len(row) != columns:
            raise BadInput(where.format(position), f"has {len(row)} entries, and {columns} are needed")
    table = np.array(rows_given, np.float64).reshape(len(rows_given), columns)
    for row, column in np.argwhere(np.isinf(table))[:1]:
        raise BadInput(f"{where.format(row)}[{column}]", "is not a finite number")
    return np.where(np.isnan(table), np.inf, table)  # what is null has become NaN


def _names(entries: Iterable[BrokerEntry | UserEntry], what: str) -> tuple[str, ...]:
    seen: set[str] = set()
    for position, entry in enumerate(entries):
        if entry.name in seen:
            raise BadInput(f"{what}[{position}].name", f'a second one named "{entry.name}"')
        seen.add(entry.name)
    return tuple(entry.name for entry in entries)
