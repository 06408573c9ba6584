"""What could not be dealt with is kept, all of it."""

from polycast.home import Home
from polycast.pipeline.deadletters import EVENT, Reason, keep


def test_no_dead_letter_takes_the_place_of_another(home: Home) -> None:
    file = home.inbox / "a.json"
    for words in ("first", "first", "second", "first", "second"):
        file.write_text(words)
        keep(home, Reason(file=file.name, error="no event"), file)
    file.unlink()
    keep(home, Reason(file=file.name, error="it was moved already"), file)
    assert {letter.name: (letter / EVENT).read_text() for letter in home.dead_letters.iterdir()} == {
        "a": "first",
        "a-1": "second",
    }
