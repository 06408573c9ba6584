"""Media types with parameters, and the ranges of them that HTTP's Accept header is made of (RFC 9110)."""

import re
from typing import NamedTuple

from polycast.errors import BadInput

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TYPE = re.compile(rf"[ \t]*({_TOKEN})/({_TOKEN})[ \t]*")
_PARAMETER = re.compile(rf"[ \t]*({_TOKEN})[ \t]*=[ \t]*({_TOKEN}|{_QUOTED})[ \t]*")
_BETWEEN = re.compile(r"[ \t,]*")
_SEPARATOR = re.compile(r";[ \t;]*")  # parameters may be empty (RFC 9110, section 5.6.6)
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
_ESCAPED = re.compile(r"\\(.)")


class MediaType(NamedTuple):
    """``type/subtype`` with its parameters, in lower case; ``*`` stands for anything."""

    type: str
    subtype: str
    parameters: dict[str, str]


class MediaRange(NamedTuple):
    """One element of an Accept header: the media types that it names, and how much they are liked."""

    media_type: MediaType
    q: float


def parse_media_type(text: str) -> MediaType:
    """Read one media type, as in ``video/mp4; codecs="avc1.64001F, mp4a.40.2"``."""
    media_type, end = _read_type(text, 0)
    if end != len(text):
        raise _fault(text, end, "not a media type")
    return media_type


def is_media_type(text: str) -> bool:
    """Whether the text is one media type."""
    try:
        parse_media_type(text)
    except BadInput:
        return False
    return True


def parse_accept(text: str) -> tuple[MediaRange, ...]:
    """Read an Accept header; an empty one accepts nothing in particular, which is everything."""
    ranges = []
    position = _next(text, 0)
    while position < len(text):
        media_type, end = _read_type(text, position)
        ranges.append(_range(media_type, text))
        if end < len(text) and text[end] != ",":
            raise _fault(text, end, "expected a comma")
        position = _next(text, end)
    return tuple(ranges) or (MediaRange(MediaType("*", "*", {}), 1.0),)


def codecs(parameter: str) -> tuple[str, ...]:
    """The list that a ``codecs`` parameter holds (RFC 6381)."""
    return tuple(codec.strip() for codec in parameter.split(",") if codec.strip())


def accepts(range_: MediaType, offer: MediaType) -> bool:
    """Whether an offer lies within a range; parameters that the range does not name do not matter."""
    if range_.type != "*" and range_.type != offer.type:
        return False
    if range_.subtype != "*" and range_.subtype != offer.subtype:
        return False
    return all(
        name in offer.parameters and _parameter_accepts(name, wanted, offer.parameters[name])
        for name, wanted in range_.parameters.items()
    )


def specificity(range_: MediaType) -> tuple[bool, bool, int]:
    """How narrow a range is: the narrowest that accepts an offer decides on it."""
    return range_.type != "*", range_.subtype != "*", len(range_.parameters)


def _parameter_accepts(name: str, wanted: str, offered: str) -> bool:
    """Equal; or, for codecs, each one offered is listed, or a family of it is (``avc1`` for ``avc1.64001F``)."""
    if name != "codecs":
        return wanted == offered
    listed = codecs(wanted)
    return all(
        any(codec == known or codec.startswith(known + ".") for known in listed) for codec in codecs(offered)
    )


def _next(text: str, position: int) -> int:
    """Where the next element of a list begins; empty elements are allowed (RFC 9110, section 5.6.1)."""
    found = _BETWEEN.match(text, position)
    return position if found is None else found.end()


def _range(media_type: MediaType, text: str) -> MediaRange:
    """Take the weight out of the parameters; what follows it is an extension of Accept that nobody uses."""
    names = list(media_type.parameters)
    if media_type.type == "*" and media_type.subtype != "*":
        raise BadInput("", f"`*/{media_type.subtype}` is not a media range, in {text!r:.80}")
    if "q" not in names:
        return MediaRange(media_type, 1.0)
    weight = media_type.parameters["q"]
    if not _WEIGHT.fullmatch(weight):
        raise BadInput("", f"{weight!r:.80} is not a weight from 0 to 1, in {text!r:.80}")
    kept = {name: media_type.parameters[name] for name in names[: names.index("q")]}
    return MediaRange(media_type._replace(parameters=kept), float(weight))


def _read_type(text: str, start: int) -> tuple[MediaType, int]:
    found = _TYPE.match(text, start)
    if not found:
        raise _fault(text, start, "expected a media type")
    parameters: dict[str, str] = {}
    position = found.end()
    while separator := _SEPARATOR.match(text, position):
        position = separator.end()
        if text[position : position + 1] in ("", ","):
            break
        parameter = _PARAMETER.match(text, position)
        if not parameter:
            raise _fault(text, position, "expected a parameter `name=value`")
        name, value = parameter[1].lower(), parameter[2]
        if name in parameters:
            raise _fault(text, position, f"a second parameter `{name}`")
        if value.startswith('"'):
            value = _ESCAPED.sub(r"\1", value[1:-1])
        parameters[name] = value.lower()
        position = parameter.end()
    return MediaType(found[1].lower(), found[2].lower(), parameters), position


def _fault(text: str, position: int, why: str) -> BadInput:
    return BadInput(f"column {position + 1}", f"{why}, in {text!r:.80}")
