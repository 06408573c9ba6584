"""JSON in, JSON out: strict on the way in, and never NaN or infinity on the way out."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TypeVar

import msgspec

from polycast.errors import BadInput

T = TypeVar("T")

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def decode(data: bytes, type_: type[T], where: str) -> T:
    """Read one JSON document as ``type_``; every fault is a ``BadInput`` that names the place in ``where``.

    Unknown keys are refused by the structs themselves (``forbid_unknown_fields``); duplicate keys, NaN and
    infinities, which JSON readers let through, are refused here.
    """
    return convert(parse(data, where), type_, where)


def parse_lines(file: Iterable[bytes], where: str) -> Iterator[tuple[str, Any]]:
    """Read a file with a JSON document to a line: each line's place, and its document. Blank lines hold none."""
    for number, line in enumerate(file, 1):
        if line.removeprefix(BOM_UTF8).strip():
            yield f"{where}, line {number}", parse(line.rstrip(b"\r\n"), where, number)


def parse(data: bytes, where: str, line: int | None = None) -> Any:
    """Read one JSON document as plain lists and dictionaries.

    Parameters
    ----------
    line
        Of the file ``where``, if the document is but one line of it.
    """
    file, where = where, where if line is None else f"{where}, line {line}"
    if not data.strip():
        raise BadInput(where, "empty; expected a JSON document")
    try:
        document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant)
        if _SURROGATE.search(data):
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except json.JSONDecodeError as error:
        place = f"{file}, line {line or error.lineno} column {error.colno}"
        raise BadInput(place, f"not JSON: {error.msg}") from None
    except UnicodeEncodeError:
        raise BadInput(
            where, "holds half of a character, a lone surrogate, which no UTF-8 text can hold"
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(where, f"not UTF-8 text: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise BadInput(where, "not a document of ours: nested too deeply") from None
    except _Refused as error:
        raise BadInput(where, str(error)) from None
    except ValueError as error:  # an integer of more digits than Python agrees to read
        raise BadInput(where, f"not JSON that can be read: {error}") from None


def convert(document: Any, type_: type[T], where: str) -> T:
    """Give a parsed document its type; the error names the path inside it."""
    try:
        return msgspec.convert(document, type_)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).rpartition(" - at `$")
        place = f"{where}, {path.rstrip('`').lstrip('.')}" if reason else where
        raise BadInput(place, reason or str(error)) from None


def encode(answer: object) -> bytes:
    """Write one JSON document; what is infinite or unknown becomes ``null``."""
    return msgspec.json.encode(answer)


class _Refused(Exception):
    """Raised inside the reader, which only lets exceptions of ours pass unchanged."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(f'the key "{key}" stands twice in one object')
            seen.add(key)
    return document


def _no_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a JSON number")
