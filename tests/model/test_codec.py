import msgspec
import pytest

from polycast.errors import BadInput
from polycast.model import codec


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    x: float
    tags: list[str] = []


@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        (b"", "file", "empty"),
        (b" \n", "file", "empty"),
        (b'{"x": 1,\n "x": }', "file, line 2 column 7", "not JSON"),
        (b'{"x": 1, "x": 2}', "file", '"x" stands twice'),
        (b'{"x": NaN}', "file", "NaN"),
        (b'{"x": -Infinity}', "file", "-Infinity"),
        (b"\xff\xfe{}", "file", "not UTF-8"),
        (b"[" * 200_000, "file", "nested too deeply"),
        (b"9" * 5000, "file", "digits"),
        (b'{"x": "one"}', "file, x", "float"),
        (b'{"x": 1, "tags": ["a", 2]}', "file, tags[1]", "str"),
        (b'{"x": 1, "y": 2}', "file", "unknown field `y`"),
        (b"{}", "file", "missing required field `x`"),
    ],
)
def test_every_fault_names_the_place_and_the_reason(data: bytes, place: str, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        codec.decode(data, Point, "file")
    assert caught.value.where == place
    assert reason in caught.value.why
    assert "\n" not in str(caught.value)


def test_what_is_infinite_is_written_as_null() -> None:
    assert codec.encode({"a": float("inf"), "b": float("nan")}) == b'{"a":null,"b":null}'
