"""Contents of a store become other contents of it, once."""

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from examples import samples
from polycast.convert import catalogue, graphs
from polycast.convert.converter import Converter, Stored
from polycast.convert.store import ContentStore
from polycast.errors import Cancelled, ConversionError, NoSolution, Unreadable

named = catalogue.named


@pytest.fixture(params=["folder", "memory"])
def converter(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Converter]:
    store = ContentStore(tmp_path / "store" if request.param == "folder" else f"memory://{tmp_path.name}")
    with Converter(store, workers=1) as one:
        yield one


@pytest.fixture
def picture(converter: Converter) -> str:
    out = io.BytesIO()
    Image.effect_noise((200, 100), 50).save(out, "PNG")
    return converter.store.put(out.getvalue())


def test_nothing_is_converted_twice(converter: Converter, picture: str) -> None:
    first = converter.convert(picture, named("png"), named("jpg-320"))
    again = converter.convert(picture, named("png"), named("jpg-320"))
    assert not first.remembered
    assert again == first._replace(cpu_seconds=0.0, remembered=True)
    assert Image.open(io.BytesIO(converter.store.get(first.digest))).format == "JPEG"


def test_what_was_cleared_away_is_made_again(converter: Converter, picture: str) -> None:
    first = converter.convert(picture, named("png"), named("jpg-320"))
    converter.store.remove(first.digest)
    again = converter.convert(picture, named("png"), named("jpg-320"))
    assert (again.digest, again.remembered) == (first.digest, False)


def test_what_was_cut_short_is_made_again(converter: Converter, picture: str) -> None:
    first = converter.convert(picture, named("png"), named("jpg-320"))
    path = converter.store._path(first.digest)
    with converter.store._files.open(path, "wb") as file:
        file.write(b"cut")
    assert not converter.convert(picture, named("png"), named("jpg-320")).remembered
    assert converter.store.get(first.digest)


def test_clearing_the_store_clears_the_memory(converter: Converter, picture: str) -> None:
    made = converter.convert(picture, named("png"), named("jpg-320"))
    assert converter.collect(keep={picture}, spare=0.0) == (1, made.size)
    assert picture in converter.store
    assert list(converter.store.notes()) == []


def test_other_parameters_are_another_rendition(converter: Converter, picture: str) -> None:
    made = converter.convert_many(picture, named("png"), [named("jpg-80"), named("jpg-40"), named("jpg-80")])
    assert len({one.digest for one in made if isinstance(one, Stored)}) == 2


def test_forms_of_several_tools_at_once(converter: Converter, tmp_path: Path) -> None:
    the_map = converter.store.put(samples.annotated_map(tmp_path / "map.pdf"))
    made = converter.convert_many(the_map, named("pdf"), [named("jpg-320"), named("text"), named("png-320")])
    assert [one.format for one in made if isinstance(one, Stored)] == ["jpg-320", "text", "png-320"]


def test_what_fails_alone_does_not_spoil_the_rest(converter: Converter, tmp_path: Path) -> None:
    silent = samples.video(tmp_path / "silent.mp4", seconds=0.2, size=(160, 120), sound=False)
    digest = converter.store.put(silent)
    video, sound = converter.convert_many(digest, named("mp4"), [named("3gp-96"), named("mp3")])
    assert isinstance(video, Stored)
    assert isinstance(sound, Unreadable)


def test_a_chain_is_followed(converter: Converter, tmp_path: Path) -> None:
    graph = graphs.load("annotated-map")
    the_map = converter.store.put(samples.annotated_map(tmp_path / "map.pdf"))
    chain = graph.cheapest_chain(["pdf"], "speech")
    assert chain is not None
    speech = converter.make(the_map, graph, [chain])["speech"]
    assert isinstance(speech, Stored)
    assert converter.store.get(speech.digest).startswith(b"RIFF")


def test_two_who_ask_at_once_wait_for_one_run(converter: Converter, picture: str) -> None:
    futures = [converter.submit(picture, named("png"), named("webp-80")) for _ in range(4)]
    assert sorted(future.result().remembered for future in futures) == [False, True, True, True]


def test_errors_are_raised_and_not_remembered(converter: Converter) -> None:
    for _ in range(2):
        with pytest.raises(ConversionError):
            converter.convert(converter.store.put(b"nonsense"), named("png"), named("jpg"))
    with pytest.raises(NoSolution):
        converter.convert("0" * 64, named("png"), named("jpg"))


def test_cancelling(converter: Converter, picture: str) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(Cancelled):
        converter.convert_many(picture, named("png"), [named("jpg"), named("gif")], cancelled)
