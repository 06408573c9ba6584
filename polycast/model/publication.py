"""What is published: an event (CloudEvents 1.0), and the content that it announces."""

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from polycast.errors import BadInput
from polycast.model.media import is_media_type

# The types that CloudEvents gives to attributes in JSON: String (URI, Timestamp, Binary too), Integer, Boolean.
Scalar = str | int | bool

REQUIRED = ("id", "source", "specversion", "type")
INTEGERS = range(-(2**31), 2**31)

_NAME = re.compile(r"[a-z0-9]+")
_NO_CHARACTERS = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_NO_CHARACTERS}]")
_URI_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:.*")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?"
    r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


class Event(msgspec.Struct, frozen=True):
    """A CloudEvent: its context attributes, extensions among them, and its payload.

    Parameters
    ----------
    data
        A JSON value, or ``bytes`` where the payload is not JSON; None for no payload.
    """

    attributes: Mapping[str, Scalar]
    data: Any = None

    def __post_init__(self) -> None:
        check_attributes(self.attributes)

    @property
    def id(self) -> str:
        return str(self.attributes["id"])

    @property
    def source(self) -> str:
        return str(self.attributes["source"])

    @property
    def type(self) -> str:
        return str(self.attributes["type"])

    @property
    def key(self) -> str:
        """A name that no other event has, fit for a file: a readable part of the id, and a digest."""
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", self.id)[:40].strip("-")
        digest = hashlib.sha256(f"{self.source}\n{self.id}".encode()).hexdigest()[:16]
        return f"{readable}-{digest}" if readable else digest


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference to bytes in the content store, and the form that they have.

    Parameters
    ----------
    format
        The name of a format of the content graph.
    size
        In bytes.
    """

    digest: str
    format: str
    size: int


class Publication(msgspec.Struct, frozen=True):
    """What travels through Polycast: an event, and the content it announces (None if the event is all)."""

    event: Event
    content: Content | None = None

    @property
    def id(self) -> str:
        return self.event.id


def check_attributes(attributes: Mapping[str, Scalar]) -> None:
    """Refuse what CloudEvents 1.0 does not allow: names, types, sizes, and the forms of the known attributes."""
    for name in REQUIRED:
        if name not in attributes:
            raise BadInput(name, "required, and missing")
    for name, value in attributes.items():
        _check_name(name)
        _check_value(name, value)
    for name, (is_valid, wanted) in _KNOWN.items():
        if name in attributes:
            value = attributes[name]
            if not isinstance(value, str) or not is_valid(value):
                raise BadInput(name, f"{value!r:.80} is not {wanted}")


def is_attribute_name(name: str) -> bool:
    """Whether an attribute may have this name: lower-case letters and digits, and not ``data``."""
    return _NAME.fullmatch(name) is not None and name != "data"


def _check_name(name: str) -> None:
    if not is_attribute_name(name):
        raise BadInput(f"{name!r:.80}", "not an attribute's name: lower-case letters and digits, not `data`")


def _check_value(name: str, value: object) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        if value not in INTEGERS:
            raise BadInput(name, f"{value} is not an integer of 32 bits")
    elif isinstance(value, str):
        if _FORBIDDEN.search(value):
            raise BadInput(name, "contains a control character or a code point that is no character")
    else:
        raise BadInput(name, f"{value!r:.80} is not a string, an integer or a boolean")


def _is_timestamp(text: str) -> bool:
    """RFC 3339, leap seconds included."""
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return False
    try:
        datetime.fromisoformat(found[1])
    except ValueError:
        return False
    return True


def _is_uri_reference(text: str) -> bool:
    return _URI_REFERENCE.fullmatch(text) is not None


def _is_uri(text: str) -> bool:
    return _is_uri_reference(text) and _URI.fullmatch(text) is not None


_KNOWN: dict[str, tuple[Callable[[str], bool], str]] = {
    "id": (bool, "a string of one character or more"),
    "source": (_is_uri_reference, "a URI reference"),
    "specversion": ("1.0".__eq__, "the version 1.0"),
    "type": (bool, "a string of one character or more"),
    "subject": (bool, "a string of one character or more"),
    "time": (_is_timestamp, "a timestamp of RFC 3339"),
    "datacontenttype": (is_media_type, "a media type"),
    "dataschema": (_is_uri, "a URI"),
}
