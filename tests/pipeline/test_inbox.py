import json
import os
from functools import partial
from pathlib import Path

import pytest

from polycast.errors import BadInput
from polycast.home import Home
from polycast.model.publication import Event
from polycast.pipeline import inbox

REQUIRED = {"id": "1", "source": "/county", "specversion": "1.0", "type": "org.example.map"}


def test_a_file_is_published_with_its_event(home: Home, the_map: Path) -> None:
    path = inbox.put(home.inbox, Event(REQUIRED | {"subject": "canyon"}), the_map)
    event = inbox.read(path)
    content, media_type = inbox.announced(event, home.inbox)
    assert isinstance(content, Path)
    assert content.read_bytes() == the_map.read_bytes()
    assert content != the_map
    assert (event.attributes["subject"], media_type) == ("canyon", "application/pdf")
    inbox.settle(path, home.archive)
    assert [file for file in home.inbox.rglob("*") if file.is_file()] == []
    assert inbox.read(home.archive / path.name) == event


@pytest.mark.parametrize(
    ("more", "data", "content", "media_type"),
    [
        ({}, {"a": [1]}, b'{"a":[1]}', "application/json"),
        ({"datacontenttype": "text/plain"}, "words", b"words", "text/plain"),
        ({"datacontenttype": "image/png"}, b"\x89PNG", b"\x89PNG", "image/png"),
        ({}, b"\0", b"\0", "application/octet-stream"),
        ({"datacontenttype": "application/json"}, "words", b'"words"', "application/json"),
    ],
)
def test_content_inside(home: Home, more: dict[str, str], data: object, content: bytes, media_type: str) -> None:
    path = inbox.put_event(home.inbox, Event(REQUIRED | more, data))
    assert inbox.announced(inbox.read(path), home.inbox) == (content, media_type)


def test_an_event_without_content_is_its_own(home: Home) -> None:
    content, media_type = inbox.announced(Event(REQUIRED), home.inbox)
    assert isinstance(content, bytes)
    assert json.loads(content) == REQUIRED
    assert media_type == "application/cloudevents+json"


@pytest.mark.parametrize(
    "reference",
    [
        *("../secret", "/etc/passwd", "file:///etc/passwd", "%2e%2e/secret", "gone", "link"),
        *("", ".", "a%00b", "circle", "circle/a", "a" * 300, "a/" * 3000, "%ff", "pipe"),
    ],
)
def test_nothing_outside_of_the_inbox_is_opened(home: Home, reference: str) -> None:
    (home.root / "secret").write_text("secret")
    (home.inbox / "link").symlink_to(home.root / "secret")
    (home.inbox / "circle").symlink_to(home.inbox / "circle")
    os.mkfifo(home.inbox / "pipe")
    with pytest.raises(BadInput, match="inbox"):
        inbox.announced(Event(REQUIRED | {"dataref": reference}), home.inbox)


def test_content_that_others_may_share_stays(home: Home) -> None:
    (home.inbox / "shared.txt").write_text("words")
    path = inbox.put_event(home.inbox, Event(REQUIRED | {"dataref": "shared.txt"}))
    assert inbox.announced(inbox.read(path), home.inbox) == ((home.inbox / "shared.txt").resolve(), "text/plain")
    inbox.settle(path, home.archive)
    assert (home.inbox / "shared.txt").exists()


def test_a_name_that_is_taken_gets_a_number(home: Home) -> None:
    for _ in range(3):
        (home.inbox / "a.json").write_text("{}")
        inbox.move(home.inbox / "a.json", home.archive)
    assert sorted(path.name for path in home.archive.iterdir()) == ["a-1.json", "a-2.json", "a.json"]


def test_attributes_are_no_place_for_content(home: Home, the_map: Path) -> None:
    event = Event(REQUIRED | {"words": "a" * inbox.LARGEST_ATTRIBUTES})
    for put in (partial(inbox.put_event, home.inbox, event), partial(inbox.put, home.inbox, event, the_map)):
        with pytest.raises(BadInput, match="more than 64 kB"):
            put()
    assert list(home.inbox.iterdir()) == []
    path = home.inbox / "large.json"
    path.write_text(json.dumps(event.attributes))
    with pytest.raises(BadInput, match=r"large\.json: attributes of more than 64 kB"):
        inbox.read(path)
