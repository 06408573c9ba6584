from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.cloudevents import (
    read_batch,
    read_event,
    read_http,
    write_event,
    write_http,
    write_http_batch,
    write_http_structured,
)
from polycast.model.publication import Event

PLAIN = {"specversion": "1.0", "id": "1", "source": "/here", "type": "t"}


@pytest.mark.parametrize(
    "document",
    [
        PLAIN,
        {**PLAIN, "data": {"a": [1, 2.5, None]}},
        {**PLAIN, "level": 3, "data_base64": "AP8="},
        {**PLAIN, "data": "text"},
    ],
)
def test_json_there_and_back(document: dict[str, object]) -> None:
    assert write_event(read_event(document, "event")) == document


def test_binary_stays_binary() -> None:
    assert read_event({**PLAIN, "data_base64": "AP8="}, "").data == b"\x00\xff"


def test_null_attributes_are_absent() -> None:
    assert "subject" not in read_event({**PLAIN, "subject": None}, "").attributes


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "line 7: an event is an object"),
        ({**PLAIN, "data": 1, "data_base64": ""}, "exclude"),
        ({**PLAIN, "data_base64": "?"}, "not Base64"),
        ({**PLAIN, "data_base64": 5}, "not Base64"),
        ({"specversion": "1.0"}, "line 7, id: required"),
        ({**PLAIN, "level": {}}, "line 7, level"),
    ],
)
def test_faults_name_the_place(document: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_event(document, "line 7")


def test_batches() -> None:
    assert [event.id for event in read_batch([PLAIN, {**PLAIN, "id": "2"}], "batch")] == ["1", "2"]
    with pytest.raises(BadInput, match=r"batch\[1\]"):
        read_batch([PLAIN, 5], "batch")


def test_http_binary_mode_there_and_back() -> None:
    event = read_event(
        {**PLAIN, "subject": 'Zürich 100% "x"', "datacontenttype": "image/png", "data_base64": "AP8="}, ""
    )
    headers, body = write_http(event)
    assert headers["ce-subject"] == "Z%C3%BCrich%20100%25%20%22x%22"
    assert read_http(headers, body) == [event]


def test_http_modes_by_content_type() -> None:
    structured = b'{"specversion":"1.0","id":"1","source":"/here","type":"t"}'
    assert read_http({"Content-Type": "application/cloudevents+json; charset=utf-8"}, structured)[0].id == "1"
    assert len(read_http({"Content-Type": "application/cloudevents-batch+json"}, b"[" + structured + b"]")) == 1
    binary = {"Ce-Id": "1", "CE-Source": "/here", "ce-type": "t", "ce-specversion": "1.0"}
    assert read_http({**binary, "content-type": "application/json"}, b'{"a": 1}')[0].data == {"a": 1}
    assert read_http({**binary, "content-type": "text/plain"}, b"a")[0].data == b"a"
    assert read_http(binary, b"")[0].data is None


TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cn")), min_size=1, max_size=20)
JSON = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.builds(
    lambda extensions, data: Event({**PLAIN, **extensions}, data),
    st.dictionaries(
        st.from_regex(r"ext[a-z0-9]{1,8}", fullmatch=True),
        TEXT | st.booleans() | st.integers(-(2**31), 2**31 - 1),
        max_size=4,
    ),
    st.none() | st.binary(min_size=1) | JSON,
)


@given(EVENTS)
def test_structured_mode_there_and_back(event: Event) -> None:
    assert read_http(*write_http_structured(event)) == [event]


@given(st.lists(EVENTS, max_size=4))
def test_batched_mode_there_and_back(events: list[Event]) -> None:
    assert read_http(*write_http_batch(events)) == events


@given(EVENTS)
def test_binary_mode_carries_the_text_of_every_attribute(event: Event) -> None:
    headers, body = write_http(event)
    assert all(value.isascii() and value.isprintable() and " " not in value for value in headers.values())
    [read] = read_http(headers, body)
    assert read.data == event.data

    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    wanted = {name: text(value) for name, value in event.attributes.items()}
    assert {name: value for name, value in read.attributes.items() if name != "datacontenttype"} == wanted


def test_binary_data_without_a_type_is_given_none() -> None:
    headers, body = write_http(read_event({**PLAIN, "data_base64": "eyAieHl6IjogMTIzIH0="}, ""))
    assert "content-type" not in headers
    assert read_http(headers, body)[0].data == b'{ "xyz": 123 }'


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({"content-type": "application/cloudevents+avro"}, b"", "content-type: .* not an event format"),
        ({"ce-id": "%C0%A0"}, b"", "ce-id: .* not UTF-8"),
        ({"ce-datacontenttype": "text/plain"}, b"", "content-type alone"),
        ({"content-type": "application/json"}, b"\xff", "not UTF-8"),
        ({"ce-under_score": "x"}, b"", "not an attribute's name"),
        ({"content-type": "application/cloudevents+json"}, b"[]", "an event is an object"),
    ],
)
def test_what_is_no_message(headers: dict[str, str], body: bytes, words: str) -> None:
    binary = {"ce-id": "1", "ce-source": "/here", "ce-type": "t", "ce-specversion": "1.0"}
    with pytest.raises(BadInput, match=words):
        read_http({**binary, **headers}, body)


def test_headers_from_older_senders() -> None:
    binary = {"ce-id": "1", "ce-source": "/here", "ce-type": "t", "ce-specversion": "1.0"}
    headers = {**binary, "ce-subject": r'"a \"quoted\" \\ %c3%bc %41"'}
    assert read_http(headers, b"")[0].attributes["subject"] == 'a "quoted" \\ ü A'


def test_half_a_character_is_refused() -> None:
    with pytest.raises(BadInput, match="surrogate"):
        codec.parse(b'{"data": "\\ud800"}', "event")
    assert codec.parse(b'"\\ud83d\\ude00"', "event") == "\U0001f600"
