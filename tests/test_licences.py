"""docs/licences.md names every package that the lock file installs, with the licence that the package states."""

import re
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = dict(re.findall(r"^\| `([\w.-]+)` \| (.+?) \| .+ \|$", (ROOT / "docs/licences.md").read_text(), re.M))
LOCKED = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines() if line}


def test_every_locked_package_is_listed_and_no_other() -> None:
    assert set(LISTED) == LOCKED


def test_the_licences_are_those_that_the_packages_state() -> None:
    stated = {name: metadata(name)["License-Expression"] for name in LOCKED}
    known = {name: licence for name, licence in stated.items() if licence}
    assert len(known) > len(LOCKED) / 2
    assert {name: licence for name, licence in known.items() if not LISTED[name].startswith(licence)} == {}
