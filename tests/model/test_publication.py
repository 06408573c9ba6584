import pytest

from polycast.errors import BadInput
from polycast.model.publication import Event

PLAIN = {"specversion": "1.0", "id": "1", "source": "/here", "type": "t"}


def test_an_event_knows_its_name() -> None:
    event = Event({**PLAIN, "level": 3, "urgent": True})
    assert (event.id, event.source, event.type) == ("1", "/here", "t")


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""}, {"source": "a b"}, {"specversion": "0.3"}, {"Level": 1}, {"data": 1}, {"level": 2**31},
        {"level": 1.5}, {"level": [1]}, {"time": "yesterday"}, {"time": "2026-02-30T00:00:00Z"},
        {"datacontenttype": "json"}, {"dataschema": "relative"}, {"text": "\x07"}, {"id": 3}, {"subject": ""},
        {"text": "\ufdd0"}, {"text": "\uffff"}, {"text": "\U0001fffe"}, {"text": "\U0010ffff"}, {"text": "\ud800"},
        {"time": "2026-01-01T0\u0660:00:00Z"},
    ],
)  # fmt: skip
def test_what_the_specification_forbids(change: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        Event({**PLAIN, **change})  # type: ignore[arg-type]


def test_what_it_allows() -> None:
    Event({**PLAIN, "time": "2026-12-31T23:59:60.5+01:00", "datacontenttype": "text/plain; charset=utf-8"})
    Event({**PLAIN, "text": "\ufdcf\ufffd\U0001f600\U0010fffd", "averylongnameofanattribute": -(2**31)})
