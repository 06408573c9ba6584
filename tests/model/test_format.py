import pytest

from polycast.errors import BadInput
from polycast.model.format import ContentGraph, Format, Measured, Operator


def graph(sizes: dict[str, float | None], *operators: tuple[str, str, float]) -> ContentGraph:
    return ContentGraph(
        formats=tuple(Format(name=name, size=size) for name, size in sizes.items()),
        operators=tuple(Operator(*operator) for operator in operators),
    )


def test_cheapest_chain_prefers_the_detour_that_costs_less() -> None:
    maps = graph({"pdf": 18, "jpg": 3, "txt": 0.1}, ("pdf", "txt", 9), ("pdf", "jpg", 4), ("jpg", "txt", 2))
    chain = maps.cheapest_chain(["pdf"], "txt")
    assert chain is not None
    assert chain.cost == 6
    assert [operator.target for operator in chain.operators] == ["jpg", "txt"]


def test_no_chain_leads_backwards_and_none_is_needed_where_one_stands() -> None:
    maps = graph({"pdf": 18, "jpg": 3}, ("pdf", "jpg", 4))
    assert maps.cheapest_chain(["jpg"], "pdf") is None
    assert maps.cheapest_chain(["jpg", "pdf"], "pdf") == (0.0, ())


@pytest.mark.parametrize(
    ("sizes", "operators", "place"),
    [
        ({"": 1.0}, [], "formats[0]"),
        ({"a": -1.0}, [], "formats[0].size"),
        ({"a": float("nan")}, [], "formats[0].size"),
        ({"a": 1.0}, [("a", "b", 1.0)], "operators[0]"),
        ({"a": 1.0}, [("a", "a", 1.0)], "operators[0]"),
        ({"a": 1.0, "b": 1.0}, [("a", "b", 1.0), ("a", "b", 2.0)], "operators[1]"),
        ({"a": 1.0, "b": 1.0}, [("a", "b", float("inf"))], "operators[0].cost"),
    ],
)
def test_a_wrong_graph_names_the_place(
    sizes: dict[str, float | None], operators: list[tuple[str, str, float]], place: str
) -> None:
    with pytest.raises(BadInput) as caught:
        graph(sizes, *operators)
    assert caught.value.where == place


def test_two_formats_of_one_name() -> None:
    with pytest.raises(BadInput, match='second format named "a"'):
        ContentGraph(formats=(Format(name="a", size=1.0), Format(name="a", size=2.0)), operators=())


def measured_map() -> ContentGraph:
    """One page of 2 MB, of which every further one adds 1 MB; the picture shows the first page alone."""
    return ContentGraph(
        formats=(
            Format(name="pdf", size=2.0, per_unit=1.0),
            Format(name="jpg", size=0.5, per_unit=0.0),
            Format(name="text", size=0.1, per_unit=0.1),
            Format(name="braille", size=None),
        ),
        operators=(Operator("pdf", "jpg", 0.3, 0.0), Operator("pdf", "text", 0.2, 0.1)),
        measured=Measured("page", 1.0),
    )


def test_what_was_measured_per_page_grows_with_the_pages() -> None:
    graph = measured_map().for_content("pdf", 5.0)  # four pages
    assert [format.size for format in graph.formats] == pytest.approx([5.0, 0.5, 0.4, None])
    assert [operator.cost for operator in graph.operators] == pytest.approx([0.3, 0.5])


def test_what_was_not_measured_so_grows_as_the_content_does() -> None:
    graph = measured_map().for_content("jpg", 1.0)
    assert [format.size for format in graph.formats] == pytest.approx([4.0, 1.0, 0.2, None])
    assert [operator.cost for operator in graph.operators] == pytest.approx([0.6, 0.4])


def test_no_cost_or_size_falls_below_nothing() -> None:
    graph = measured_map().for_content("pdf", 0.001)
    assert all(format.size is None or format.size >= 0 for format in graph.formats)
    assert all(operator.cost >= 0 for operator in graph.operators)


def test_a_graph_of_a_later_version_is_refused() -> None:
    with pytest.raises(BadInput, match="version"):
        ContentGraph(formats=(), operators=(), version=2)
