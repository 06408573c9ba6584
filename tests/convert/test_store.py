"""Content is kept whole, once, verified, and cleared away by rule; on disk and in object storage alike."""

import io
import os
import time
import uuid
from pathlib import Path

import pytest

from polycast.convert.store import ContentStore, Item
from polycast.errors import BadInput, NoSolution, TooLarge, Unreadable


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ContentStore:
    return ContentStore(tmp_path / "store" if request.param == "folder" else f"memory://{uuid.uuid4().hex}")


def test_what_is_put_is_got(store: ContentStore, tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    file = tmp_path / "content"
    file.write_bytes(content)
    digest = store.put(content)
    assert store.put(file) == store.put(io.BytesIO(content)) == store.adopt(file) == digest
    assert digest in store
    assert (store.size(digest), store.get(digest)) == (3 << 20, content)
    with store.local(digest, tmp_path) as path:
        assert path.read_bytes() == content
    assert [item[:2] for item in store.items()] == [(digest, 3 << 20)]


def test_what_is_not_there(store: ContentStore) -> None:
    assert "0" * 64 not in store
    with pytest.raises(NoSolution):
        store.get("0" * 64)
    with pytest.raises(BadInput):
        store.get("../../etc/passwd")


def test_content_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise ConnectionError
            return super().read(size)

    store = ContentStore(tmp_path)
    with pytest.raises(ConnectionError):
        store.put(Breaking(bytes(3 << 20)))
    assert list(store.items()) == []
    assert list((tmp_path / "incoming").iterdir()) == []


def test_content_may_not_be_too_large(tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        ContentStore(tmp_path, most_bytes=10).put(bytes(11))


def test_damage_is_seen_and_mended_by_the_next_writing(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    digest = store.put(b"content")
    (tmp_path / "content" / digest[:2] / digest[2:]).write_bytes(b"damaged")
    with pytest.raises(Unreadable):
        store.get(digest)
    with pytest.raises(Unreadable), store.local(digest, tmp_path):
        pass
    store.put(b"content")
    assert store.get(digest) == b"content"


def age(store: ContentStore, tmp_path: Path, digest: str, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(tmp_path / "content" / digest[:2] / digest[2:], (moment, moment))
    assert any(item == Item(digest, store.size(digest), pytest.approx(moment)) for item in store.items())


def test_clearing_keeps_what_is_to_be_kept_and_what_is_young(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    kept, old, young = (store.put(word) for word in (b"kept", b"old", b"young"))
    age(store, tmp_path, kept, 7200)
    age(store, tmp_path, old, 7200)
    assert store.collect(keep={kept}) == (1, 3)
    assert {item.digest for item in store.items()} == {kept, young}


def test_a_full_store_lets_go_of_what_was_used_longest_ago(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    digests = [store.put(bytes([number]) * 100) for number in range(5)]
    for number, digest in enumerate(digests):
        age(store, tmp_path, digest, 9000 - number)
    store.touch(digests[0])
    assert store.collect(most_bytes=250, spare=60) == (3, 300)
    assert {item.digest for item in store.items()} == {digests[0], digests[4]}


def test_notes(store: ContentStore) -> None:
    key = "a" * 64
    assert store.noted(key) is None
    store.note(key, b"first")
    store.note(key, b"second")
    assert store.noted(key) == b"second"
    store.forget(key)
    store.forget(key)
    assert store.noted(key) is None
