"""What a mailbox takes, and what it takes again."""

import errno

import pytest

from polycast.convert.store import ContentStore
from polycast.errors import Unreadable
from polycast.home import Home
from polycast.pipeline.dispatch import _refusal
from polycast.pipeline.mailbox import Delivered, Mailboxes
from tests.pipeline.publications import note_of, stray_files

WORDS = b"The road is open."


@pytest.fixture
def mailboxes(home: Home) -> Mailboxes:
    return Mailboxes(home, ContentStore(home.content))


@pytest.fixture
def delivery(home: Home) -> Delivered:
    return Delivered(
        publication="p",
        subscription="ferry",
        broker="island",
        form="text",
        media_type="text/plain",
        digest=ContentStore(home.content).put(WORDS),
        size=len(WORDS),
        file="p.island.text.txt",
        event={"id": "p"},
    )


def test_what_is_there_is_not_written_again(home: Home, mailboxes: Mailboxes, delivery: Delivered) -> None:
    assert mailboxes.deliver(delivery)
    mailboxes.flush()
    file = home.mailbox("ferry") / delivery.file
    before = file.stat()
    assert not mailboxes.deliver(delivery)
    assert file.read_bytes() == WORDS
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("torn", ["file", "note"])
def test_what_a_power_cut_has_torn_is_delivered_again(
    home: Home, mailboxes: Mailboxes, delivery: Delivered, torn: str
) -> None:
    mailboxes.deliver(delivery)
    file = home.mailbox("ferry") / delivery.file
    (file if torn == "file" else note_of(file)).write_bytes(b"")
    assert mailboxes.deliver(delivery)
    assert file.read_bytes() == WORDS
    assert stray_files(home) == []


def test_what_its_subscriber_has_taken_is_not_delivered_again(
    home: Home, mailboxes: Mailboxes, delivery: Delivered
) -> None:
    mailboxes.deliver(delivery)
    (home.mailbox("ferry") / delivery.file).unlink()
    assert not mailboxes.deliver(delivery)


def test_nothing_was_delivered_and_there_is_nothing_to_flush(mailboxes: Mailboxes) -> None:
    mailboxes.flush()


class Refusing:
    """A sink that only has errors to give."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def deliver(self, delivery: Delivered) -> bool:
        del delivery
        raise self._error

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOTDIR, "Not a directory"), PermissionError(13, "not allowed"), Unreadable("damaged")]
)
def test_what_is_wrong_with_one_mailbox_is_told(delivery: Delivered, error: Exception) -> None:
    assert _refusal(Refusing(error), delivery) == str(error)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EMFILE])
def test_what_is_wrong_with_the_machine_stops_everything(delivery: Delivered, number: int) -> None:
    with pytest.raises(OSError, match="broken"):
        _refusal(Refusing(OSError(number, "broken")), delivery)
