"""The converter of a Spark worker keeps the limits that are set for all commands."""

from pathlib import Path

import pytest

from polycast.convert.catalogue import named
from polycast.convert.store import ContentStore
from polycast.errors import BadInput, TooLarge
from polycast.pipeline.workshop import Workshop


def test_limits_are_those_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, workshop = ContentStore(tmp_path), Workshop()
    words = store.put(b"The fire moves east.")
    monkeypatch.setenv("POLYCAST_LIMIT", "wall=60 input=4")
    with workshop.open(store) as converter, pytest.raises(TooLarge, match="20 bytes"):
        converter.convert(words, named("text"), named("speech"))
    workshop.close()
    monkeypatch.setenv("POLYCAST_LIMIT", "walls=60")
    with pytest.raises(BadInput, match="the limits are"), workshop.open(store):
        pass
