"""Forms have names that people would try, and no form is made from one that has lost what it promises."""

from pathlib import Path

import pytest

from polycast.convert import catalogue, media
from polycast.convert.catalogue import named
from polycast.errors import BadInput


@pytest.mark.parametrize(
    ("name", "same"),
    [("JPEG", "jpg"), (".jpg", "jpg"), ("txt", "text"), ("video/3gpp", "3gp"), ("text/plain", "text")],
)
def test_names_that_people_try(name: str, same: str) -> None:
    assert named(name) == named(same)


def test_what_a_name_can_add() -> None:
    assert (named("jpg-800").width, named("jpeg-800").height) == (800, 800)
    assert (named("mp4-600p").width, named("mp4-600p").height) == (1066, 600)
    assert (named("mp4-600-800k").height, named("mp4-600-800k").bitrate) == (600, 800_000)
    assert named("png-300dpi").dpi == 300
    assert named("speech-de").language == "de"
    assert named("mp3-64k").bitrate == 64_000


@pytest.mark.parametrize(
    "name", ["jpg-64k", "mp4-300dpi", "jpg-de", "mp4-", "pdf-3", "jpg-0", "", "x/y", "jpg-99999999"]
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(BadInput):
        named(name)


def test_a_misspelt_name_is_told_its_neighbours() -> None:
    with pytest.raises(BadInput, match="did you mean jpg or"):
        named("jgp")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("mp4-360", "mp4-720"),
        ("mp4-360", "mp4"),
        ("jpg-320", "jpg"),
        ("jpg-320", "png-320"),
        ("gif", "jpg"),
        ("mp4-720-200k", "avi-720"),
        ("mp4-360", "jpg-1280"),
        ("jpg", "png-300dpi"),
        ("mp4", "speech"),
        ("annotation", "speech"),
    ],
)
def test_nothing_looks_better_than_what_it_is_made_from(source: str, target: str) -> None:
    assert not catalogue.allows(named(source), named(target))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("mp4", "mp4-720"),
        ("mp4-720", "avi-360"),
        ("mp4-720", "mp4-720-800k"),
        ("mp4-360", "jpg-320"),
        ("png", "gif"),
        ("pdf", "jpg-300dpi"),
        ("text", "speech-de"),
        ("annotation", "announcement"),
        ("speech", "mp3"),
    ],
)
def test_what_can_be_made(source: str, target: str) -> None:
    assert catalogue.allows(named(source), named(target))


def test_no_chain_comes_back_larger_or_better() -> None:
    """However long the chain: every step keeps the rule, so the whole does."""
    forms = catalogue.formats()
    for source, target in catalogue.pairs(forms):
        if media.kind(source) == media.kind(target) and source.height:
            assert target.height is not None
            assert target.height <= source.height


def test_what_a_file_is(tmp_path: Path) -> None:
    def seen(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(content)
        return catalogue.of_file(tmp_path / name).name

    assert seen("a.bin", b"%PDF-1.7") == "pdf"
    assert seen("a.jpg", b"\x89PNG\r\n\x1a\n") == "png"
    assert seen("a.csv", b"a,b\n1,2\n") == "csv"
    assert seen("README", "Grüße".encode()) == "text"
    with pytest.raises(BadInput, match="name its format"):
        seen("a.unknown-to-all", b"\x00\x01")
    with pytest.raises(BadInput, match="No such file"):
        catalogue.of_file(tmp_path / "none.pdf")
