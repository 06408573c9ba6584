import pytest

from polycast.errors import BadInput
from polycast.model.cloudevents import read_batch, read_event, read_http, write_event, write_http

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
