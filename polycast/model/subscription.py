"""Who wants what, in which form: a subscription with the filters of the CloudEvents Subscriptions API."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.profile import ANYTHING, Profile
from polycast.model.publication import is_attribute_name


class Exact(msgspec.Struct, frozen=True, tag="exact"):
    """Every named attribute is present, and its text is the given one."""

    attributes: dict[str, str]


class Prefix(msgspec.Struct, frozen=True, tag="prefix"):
    """Every named attribute is present, and its text begins with the given one."""

    attributes: dict[str, str]


class Suffix(msgspec.Struct, frozen=True, tag="suffix"):
    """Every named attribute is present, and its text ends with the given one."""

    attributes: dict[str, str]


class AllOf(msgspec.Struct, frozen=True, tag="all"):
    """Every one of the filters accepts the event."""

    filters: tuple["Filter", ...]


class AnyOf(msgspec.Struct, frozen=True, tag="any"):
    """At least one of the filters accepts the event."""

    filters: tuple["Filter", ...]


class Not(msgspec.Struct, frozen=True, tag="not"):
    """The filter does not accept the event."""

    filter: "Filter"


class Sql(msgspec.Struct, frozen=True, tag="sql"):
    """A CESQL expression, in our superset: accepts where it gives ``true`` without an error."""

    expression: str


Filter = Exact | Prefix | Suffix | AllOf | AnyOf | Not | Sql


class Subscription(msgspec.Struct, frozen=True):
    """One subscriber's wish. Every filter must accept an event; no filter at all accepts every event."""

    id: str
    filters: tuple[Filter, ...] = ()
    profile: Profile = ANYTHING


def read_subscription(document: Any, where: str) -> Subscription:
    """Give a parsed JSON document the form of a subscription; a fault names the subscription and the place."""
    if not isinstance(document, dict):
        raise BadInput(where, "a subscription is an object with `id`, `filters` and `profile`")
    id_ = document.get("id")
    if not isinstance(id_, str) or not id_:
        raise BadInput(where, "a subscription needs an `id`: a string of one character or more")
    where = f'{where}, subscription "{id_}"'
    if unknown := document.keys() - {"id", "filters", "profile"}:
        raise BadInput(where, f"unknown key `{min(unknown)}`")
    filters = read_filters(document.get("filters", []), f"{where}, filters")
    return Subscription(id_, filters, _read_profile(document.get("profile", {}), f"{where}, profile"))


def read_filters(documents: Any, where: str) -> tuple[Filter, ...]:
    """Give parsed JSON the form of filters, however deeply they are nested: inner ones are made first."""
    made: list[Filter] = []
    found: list[_Found] = []  # outer before inner, siblings in order
    waiting = _elements(documents, _Place(None, where))[::-1]
    outermost = len(waiting)
    while waiting:
        dialect, body, place = _open(*waiting.pop())
        found.append((dialect, body, place))
        waiting.extend(reversed(_inner(dialect, body, place)))
    while found:
        made.append(_make(*found.pop(), made))
    return tuple(made.pop() for _ in range(outermost))


def _read_profile(document: Any, where: str) -> Profile:
    try:
        return codec.convert(document, Profile, where)
    except BadInput as fault:
        if fault.where.startswith(where):
            raise
        raise BadInput(f"{where.removesuffix(', profile')}, {fault.where}", fault.why) from None


class _Place(NamedTuple):
    """Where in the document a filter stands; put into words only when it is wanted."""

    outer: "_Place | None"
    step: str

    def fault(self, why: str, step: str = "") -> BadInput:
        steps = [step]
        place: _Place | None = self
        while place is not None:
            steps.append(place.step)
            place = place.outer
        return BadInput("".join(reversed(steps)), why)


_Found = tuple[str, Any, _Place]


def _elements(documents: Any, place: _Place) -> list[tuple[Any, _Place]]:
    if not isinstance(documents, list):
        raise place.fault("expected an array of filters")
    return [(document, _Place(place, f"[{position}]")) for position, document in enumerate(documents)]


def _open(document: Any, place: _Place) -> _Found:
    """The dialect of a filter, and what stands in it."""
    if not isinstance(document, dict) or len(document) != 1:
        raise place.fault("a filter is an object with one key, its dialect")
    [(dialect, body)] = document.items()
    if dialect not in ("exact", "prefix", "suffix", "all", "any", "not", "sql"):
        raise place.fault(f"unknown filter dialect `{dialect:.40}`")
    return dialect, body, _Place(place, f".{dialect}")


def _inner(dialect: str, body: Any, place: _Place) -> list[tuple[Any, _Place]]:
    """The filters within a filter, and their places."""
    if dialect == "not":
        return [(body, place)]
    if dialect in ("all", "any"):
        if not body:
            raise place.fault("expected one filter or more")
        return _elements(body, place)
    return []


_ATTRIBUTES: Mapping[str, Callable[[dict[str, str]], Filter]] = {
    "exact": Exact,
    "prefix": Prefix,
    "suffix": Suffix,
}


def _make(dialect: str, body: Any, place: _Place, made: list[Filter]) -> Filter:
    """Make one filter; what stands in it was made just before, and is taken off the end."""
    if dialect == "not":
        return Not(made.pop())
    if dialect == "all":
        return AllOf(tuple(made.pop() for _ in body))
    if dialect == "any":
        return AnyOf(tuple(made.pop() for _ in body))
    if dialect == "sql":
        if not isinstance(body, str):
            raise place.fault("expected a CESQL expression, a string")
        return Sql(body)
    return _ATTRIBUTES[dialect](_attributes(body, place))


def _attributes(body: Any, place: _Place) -> dict[str, str]:
    if not isinstance(body, dict) or not body:
        raise place.fault("expected an object of one attribute or more")
    for name, value in body.items():
        if not is_attribute_name(name):
            why = f"{name!r:.80} is not an attribute's name: lower-case letters and digits, not `data`"
            raise place.fault(why)
        if not isinstance(value, str) or not value:
            raise place.fault("expected a string of one character or more", f".{name:.40}")
    return dict(body)
