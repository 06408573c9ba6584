"""The way from the content at hand to the forms wanted of it, by what conversions were measured to cost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from polycast.convert import catalogue, graphs, media
from polycast.errors import BadInput, NoSolution
from polycast.model import codec
from polycast.model.format import Chain, ContentGraph, Format, Operator

ORIGINAL = "original"
LOSSLESS = 1.0
KINDS = files("polycast.convert") / "kinds"
SAMPLES = ("page.json", "media.json", "table.json")
UNMEASURED = 2.0
"""CPU seconds that an operator counts which nobody has measured: more than any of ours on a small content."""

Kind = tuple[str, str | None]
Table = dict[tuple[Kind, Kind], float]


def find(
    content: Path, to: Sequence[str], source: str | None = None, graph: str | None = None
) -> tuple[ContentGraph, dict[str, Chain]]:
    """The cheapest chain from a file to every form wanted, and the graph in which it lies.

    Parameters
    ----------
    source
        The name of the form that the file has, where its bytes and its name do not tell.
    graph
        The name or path of a content graph to choose from, rather than among all that there is.
    """
    if graph is not None:
        ways = graphs.load(graph)
        return ways, chains(ways, _known(source or form_in(ways, content, graph), ways, graph), to)
    form = catalogue.of_file(content) if source is None else catalogue.named(source)
    targets = {format.name: format for format in map(catalogue.named, to)}
    ways = graph_for(form, targets.values())
    try:
        return ways, chains(ways, ORIGINAL, targets)
    except NoSolution as error:
        raise NoSolution(f"{error}{_unlike_its_name(content, form)}") from None


def graph_for(source: Format, targets: Iterable[Format]) -> ContentGraph:
    """All that can be made of a content, as far as it may lead to the targets.

    Its first form, ``original``, has lost nothing yet, whatever its kind: a GIF may become a PNG. What is made on
    the way leads to others of its kind only where it has lost nothing either: no AVIF is made of a JPEG of a page.
    """
    cost = costs(source)
    original = Format(name=ORIGINAL, size=None, media_type=source.media_type)
    between = {format.name: format for format in catalogue.formats() if not (format.width or format.bitrate)}
    among = (original, *(between | {target.name: target for target in targets}).values())
    operators = (
        Operator(one.name, other.name, cost(one, other))
        for one, other in catalogue.pairs(among)
        if other is not original and (one is original or not _loses_again(one, other))
    )
    return ContentGraph(formats=among, operators=tuple(operators))


def _loses_again(one: Format, other: Format) -> bool:
    return media.kind(one) == media.kind(other) and (one.quality or LOSSLESS) < LOSSLESS


def chains(graph: ContentGraph, source: str, targets: Iterable[str]) -> dict[str, Chain]:
    """The cheapest chain to every target; ``NoSolution`` names the first one that nothing leads to."""
    found = {}
    for target in targets:
        chain = graph.cheapest_chain([source], _known(target, graph, "graph"))
        if target == source:
            raise BadInput(target, "the content has this form already")
        if chain is None:
            raise NoSolution(f'no conversion leads from {_in_words(graph[source])} to "{target}"')
        found[target] = chain
    return found


def name_of_source(graph: ContentGraph, chains: Mapping[str, Chain]) -> str:
    """What the content at hand is called, at the beginning of every chain."""
    source = graph[next(chain.operators[0].source for chain in chains.values())]
    return catalogue.of_media_type(source.media_type or "").name if source.name == ORIGINAL else source.name


def form_in(graph: ContentGraph, content: Path, where: str) -> str:
    """The first form of a graph that has the media type of a file."""
    kind = media.essence(catalogue.of_file(content))
    for format in graph.formats:
        if format.media_type is not None and media.essence(format) == kind:
            return format.name
    raise BadInput(where, f"no format of it has the media type of the content, {kind}")


def costs(published: Format) -> Callable[[Format, Format], float]:
    """What a conversion between two kinds of form costs, in CPU seconds, as measured on the most similar sample.

    Within a kind, as from a JPEG to a smaller one, it is that of the cheapest way into it from another kind.
    """
    table = _table_for(_kind(published))

    def cost(source: Format, target: Format) -> float:
        one, other = _kind(source), _kind(target)
        if one == other:
            return min((cost for (_, end), cost in table.items() if end == other), default=UNMEASURED)
        return table.get((one, other), UNMEASURED)

    return cost


def _table_for(published: Kind) -> Table:
    """The costs on the first sample of which content of this kind was made, or which it was."""
    for table in _tables():
        if any(start == published for start, _ in table):
            return table
    return {}


@cache
def _tables() -> tuple[Table, ...]:
    """What ``calibrate`` has measured on a page, a video and a table: our samples, and all kinds made of them."""
    graphs = (codec.decode((KINDS / name).read_bytes(), ContentGraph, name) for name in SAMPLES)
    return tuple(
        {(_kind(graph[edge.source]), _kind(graph[edge.target])): edge.cost for edge in graph.operators}
        for graph in graphs
    )


def _known(name: str, graph: ContentGraph, where: str) -> str:
    if name not in graph:
        raise BadInput(where, f'it has no format "{name}", only {", ".join(graph.index)}')
    return name


def _kind(format: Format) -> Kind:
    return media.essence(format), media.parameter(format, "part")


def _unlike_its_name(content: Path, form: Format) -> str:
    """What else the name of a file says that it is."""
    told = media.of_name(content)
    return "" if told in (None, media.essence(form)) else f", and by its name it is {told}"


def _in_words(format: Format) -> str:
    return media.essence(format) if format.name == ORIGINAL else f'"{format.name}"'
