"""Publications for the tests, and what is found in the mailboxes afterwards."""

from polycast.home import Home
from polycast.model.publication import Event
from polycast.pipeline import mailbox


def note(id: str, **attributes: str) -> Event:
    """A few words that nothing needs to be made of; those who take anything get them."""
    required = {"id": id, "source": "/county", "specversion": "1.0", "type": "org.example.note"}
    return Event(required | {"datacontenttype": "application/x-note"} | attributes, f"words of {id}")


def map_attributes(id: str, **attributes: str) -> dict[str, str]:
    required = {"id": id, "source": "/county", "specversion": "1.0", "type": "org.example.map"}
    return required | {"subject": "canyon", "severity": "high"} | attributes


def delivered(home: Home) -> dict[tuple[str, str], mailbox.Delivered]:
    """What lies in the mailboxes, by subscription and file; each is whole."""
    found = {}
    for told in home.mailboxes.glob("*/*.json"):
        one = mailbox.read_delivered(told)
        assert (told.parent / one.file).stat().st_size == one.size
        assert told.name == f"{one.file}.json"
        found[one.subscription, one.file] = one
    return found


def stray_files(home: Home) -> list[str]:
    """Files in the mailboxes that nothing tells of."""
    files = [path for path in home.mailboxes.glob("*/*") if path.suffix != ".json"]
    return [str(path) for path in files if not path.with_name(f"{path.name}.json").exists()]
