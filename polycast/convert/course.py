"""Which operators to run, and in which order, to know what all the operators of a graph cost."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from polycast.convert import catalogue, media, registry
from polycast.convert.edge_model import Edge, Extras, sample
from polycast.convert.tools import video
from polycast.model.format import ContentGraph, Format, Operator

FEW = 30
"""So many operators of one tool are all run; of more, a sample."""
CHECKS = 20
"""So many of the others are run too, to see how far the model is off."""


class Group(NamedTuple):
    """The operators of one tool: those that the model is fitted to, checked with, and asked for."""

    tool: str
    fitted: tuple[Edge, ...]
    checked: tuple[Edge, ...]
    told: tuple[Edge, ...]


class Course(NamedTuple):
    """What to run for one sample: first the tree, which makes every form, then the rest."""

    tree: tuple[Edge, ...]
    rest: tuple[Edge, ...]
    groups: tuple[Group, ...]


def plan(published: str, wanted: ContentGraph, every_edge: bool = False) -> Course:
    """The course for a sample that has one of the forms of a graph."""
    proper = _fewest_steps(wanted)
    chains = proper.cheapest_chains([published])
    last = [chain.operators[-1] for chain in chains.values() if chain.operators]
    tree = {(operator.source, operator.target): None for operator in last}
    edges: dict[str, list[Edge]] = defaultdict(list)
    for operator in wanted.operators:
        if operator.source in chains and operator.target in chains:
            tool = registry.find(wanted[operator.source], wanted[operator.target])
            edges[tool.name].append((operator.source, operator.target))
    rest: dict[Edge, None] = {}
    groups = []
    for tool_name, among in edges.items():
        group, copies = _grouped(tool_name, among, tree, wanted, every_edge)
        groups.append(group)
        rest |= dict.fromkeys((*copies, *group.fitted, *group.checked))
    return Course(tuple(tree), tuple(edge for edge in rest if edge not in tree), tuple(groups))


def _grouped(
    tool: str, edges: list[Edge], tree: Iterable[Edge], wanted: ContentGraph, every_edge: bool
) -> tuple[Group, list[Edge]]:
    """How one tool's operators are measured; and those that may copy, which no model tells.

    An operator that would make a form look better than it is, as only a graph for reproduction has, is told by the
    model: our tools do not enlarge.
    """
    ends = {edge: (wanted[edge[0]], wanted[edge[1]]) for edge in edges}
    enlarging = [edge for edge in edges if not catalogue.keeps(*ends[edge])]
    copies = [edge for edge in edges if edge not in enlarging and _copies(*ends[edge])]
    proper = [edge for edge in edges if edge not in enlarging and edge not in copies]
    known = [edge for edge in tree if edge in proper]
    checks = len(proper) if every_edge or len(proper) <= FEW else CHECKS
    chosen = sample(proper, checks, known, enlarging)
    told = [edge for edge in edges if edge not in {*chosen.fitted, *chosen.checked, *copies}]
    told += [edge for edge in chosen.fitted if edge in enlarging]
    return Group(tool, chosen.fitted, chosen.checked, tuple(told)), copies


def extras(wanted: ContentGraph) -> Extras:
    """What conversions of video do beside decoding and encoding: scale the picture, or copy the sound."""

    def of(edge: Edge) -> tuple[str, ...]:
        source, target = wanted[edge[0]], wanted[edge[1]]
        if not _are_videos(source, target):
            return ()
        scaled = (source.width, source.height) != (target.width, target.height)
        copied = video.codecs_of(source).audio_held == video.codecs_of(target).audio_held
        return ("scale",) * scaled + ("copy sound",) * copied

    return of


def _are_videos(*formats: Format) -> bool:
    return all(media.essence(format) in media.VIDEOS for format in formats)


def _copies(source: Format, target: Format) -> bool:
    return _are_videos(source, target) and video.may_copy(source, target)


def _fewest_steps(wanted: ContentGraph) -> ContentGraph:
    """The proper operators alone, all alike, so that every form is made in as few steps as can be."""
    return ContentGraph(
        formats=wanted.formats,
        operators=tuple(
            Operator(operator.source, operator.target, 1.0)
            for operator in wanted.operators
            if catalogue.keeps(wanted[operator.source], wanted[operator.target])
        ),
    )
