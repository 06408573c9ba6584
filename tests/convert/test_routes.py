"""The cheapest chain from what is at hand to what is wanted."""

from pathlib import Path

import pytest

from polycast.convert import catalogue, routes
from polycast.errors import BadInput, NoSolution


def way(source: str, target: str) -> list[str]:
    form, wanted = catalogue.named(source), catalogue.named(target)
    graph = routes.graph_for(form, [wanted])
    chain = routes.chains(graph, routes.ORIGINAL, [wanted.name])[wanted.name]
    return [operator.target for operator in chain.operators]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("pdf", "speech", ["text", "speech"]),
        ("pdf", "jpg-640", ["jpg-640"]),
        ("mp4", "3gp-144", ["3gp-144"]),
        ("gif", "png", ["png"]),
        ("jpg", "jpg", ["jpg"]),
        ("json", "parquet", ["parquet"]),
    ],
)
def test_the_way(source: str, target: str, expected: list[str]) -> None:
    assert way(source, target) == expected


@pytest.mark.parametrize(
    ("source", "target", "through"),
    [
        ("pdf", "mp3", {"text"}),
        ("pdf", "announcement", {"text", "annotation"}),
        ("mp4", "gif-320", {"jpg", "png", "webp"}),
    ],
)
def test_a_way_through_one_of_several(source: str, target: str, through: set[str]) -> None:
    first, *_, last = way(source, target)
    assert first in through
    assert last == target


def test_no_way() -> None:
    with pytest.raises(NoSolution, match="no conversion leads from application/pdf to"):
        way("pdf", "mp4")


def test_ways_in_a_graph(tmp_path: Path) -> None:
    content = tmp_path / "map"
    content.write_bytes(b"%PDF-1.7")
    _, chains = routes.find(content, ["speech"], graph="annotated-map")
    assert [operator.target for operator in chains["speech"].operators] == ["text", "speech"]
    with pytest.raises(BadInput, match='no format "mp3", only pdf, jpg, text, speech'):
        routes.find(content, ["mp3"], graph="annotated-map")
    with pytest.raises(BadInput, match="this form already"):
        routes.find(content, ["pdf"], graph="annotated-map")
    content.write_bytes(b"GIF89a")
    with pytest.raises(BadInput, match="media type of the content, image/gif"):
        routes.find(content, ["jpg"], graph="annotated-map")


def test_every_kind_of_operator_was_measured() -> None:
    """What nobody measured counts more than all that was; of ours, only what a sample does not lead to was not."""
    kinds = [form for form in catalogue.formats() if not (form.width or form.bitrate)]
    for published in ("pdf", "mp4", "json"):
        cost = routes.costs(catalogue.named(published))
        direct = [form for form in kinds if catalogue.allows(catalogue.named(published), form)]
        assert len(direct) >= 3
        assert all(cost(catalogue.named(published), form) < routes.UNMEASURED for form in direct)
