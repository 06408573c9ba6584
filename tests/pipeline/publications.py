"""Publications for the tests, and what is found in the mailboxes afterwards."""

from pathlib import Path

from polycast.home import Home
from polycast.model.publication import Event
from polycast.pipeline import mailbox


def note(id: str, **attributes: str) -> Event:
    """A few words that nothing needs to be made of; those who take anything get them."""
    required = {"id": id, "source": "/county", "specversion": "1.0", "type": "org.example.note"}
    return Event(required | {"datacontenttype": "application/x-note"} | attributes, f"words of {id}")


def map_event(id: str, **attributes: str) -> Event:
    required = {"id": id, "source": "/county", "specversion": "1.0", "type": "org.example.map"}
    return Event(required | {"subject": "canyon", "severity": "high"} | attributes)


def delivered(home: Home) -> dict[tuple[str, str], mailbox.Delivered]:
    """What lies in the mailboxes, by subscription and file; each is whole."""
    found = {}
    for one in mailbox.deliveries(home):
        assert (home.mailbox(one.subscription) / one.file).stat().st_size == one.size
        found[one.subscription, one.file] = one
    return found


def stray_files(home: Home) -> list[str]:
    """Files in the mailboxes that nothing tells of."""
    told = {home.mailbox(one.subscription) / one.file for one in mailbox.deliveries(home)}
    return [str(path) for path in home.mailboxes.glob("*/*") if path not in told | {note_of(one) for one in told}]


def note_of(delivery: Path) -> Path:
    """The note beside a delivered file."""
    return delivery.with_name(delivery.name + mailbox.NOTE)
