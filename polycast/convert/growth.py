"""One graph from what several samples have told, with how it grows with the seconds or the pages of a content."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from msgspec.structs import replace

from polycast.convert import media, registry
from polycast.convert.bench import Sample, Taken
from polycast.convert.edge_model import Edge
from polycast.model.format import ContentGraph, Format, Measured, Operator

SIZE_DIGITS, COST_DIGITS = 6, 4

Key = TypeVar("Key", str, Edge)
Figures = list[tuple[float, float]]
"""Of every sample its amount, in seconds or pages, and a size or cost."""


def joined(wanted: ContentGraph, taken: Sequence[Taken]) -> ContentGraph:
    """The forms and operators that were measured, with the means of their sizes and costs."""
    measured = extent(one.sample for one in taken)
    growing = _growing(wanted, {one.sample.form.name for one in taken})
    sizes = _collected((one.sample, one.sizes) for one in taken)
    costs = _collected((one.sample, one.costs) for one in taken)
    formats = tuple(
        _format(format, sizes[format.name], measured, format.name in growing)
        for format in wanted.formats
        if format.name in sizes
    )
    operators = tuple(
        _operator(edge, costs[edge], measured, edge[0] in growing and _works_through(wanted, edge))
        for edge in ((operator.source, operator.target) for operator in wanted.operators)
        if edge in costs
    )
    return ContentGraph(formats=formats, operators=operators, measured=measured)


def extent(samples: Iterable[Sample]) -> Measured:
    """How many seconds or pages the samples have on average; no unit where they are of unlike kinds."""
    extents = [sample.extent for sample in samples]
    units = {extent.unit for extent in extents}
    unit = units.pop() if len(units) == 1 else None
    amount = sum(extent.amount for extent in extents) / len(extents) if unit else 1.0
    return Measured(unit, round(amount, 3))


def slope(figures: Figures) -> float:
    """What one more second or page adds: the slope of the line through what was measured.

    Where all samples are equally long, the line goes through nothing at no length.
    """
    amounts, values = np.array(figures).T
    if np.ptp(amounts) < 1e-3 * amounts.max():
        return float(values.mean() / amounts.mean())
    return max(0.0, float(np.polyfit(amounts, values, 1)[0]))


def _format(format: Format, figures: Figures, measured: Measured, grows: bool) -> Format:
    return replace(
        format,
        size=round(_mean(figures), SIZE_DIGITS),
        per_unit=_per_unit(figures, measured, grows, SIZE_DIGITS),
    )


def _operator(edge: Edge, figures: Figures, measured: Measured, grows: bool) -> Operator:
    cost = round(_mean(figures), COST_DIGITS)
    return Operator(*edge, cost, _per_unit(figures, measured, grows, COST_DIGITS + 1))


def _per_unit(figures: Figures, measured: Measured, grows: bool, digits: int) -> float | None:
    if measured.unit is None:
        return None
    return round(slope(figures), digits) if grows else 0.0


def _growing(wanted: ContentGraph, published: Collection[str]) -> set[str]:
    """The forms that grow with the content: those made of all of it, but no picture of it."""
    growing, open_ = set(published), list(published)
    while open_:
        source = open_.pop()
        for operator in wanted.by_source[source]:
            target = operator.target
            pictured = media.kind(wanted[target]) == "image"
            if target not in growing and not pictured and _works_through(wanted, (source, target)):
                growing.add(target)
                open_.append(target)
    return growing


def _works_through(wanted: ContentGraph, edge: Edge) -> bool:
    return registry.find(wanted[edge[0]], wanted[edge[1]]).grows


def _collected(told: Iterable[tuple[Sample, Mapping[Key, float]]]) -> dict[Key, Figures]:
    figures: dict[Key, Figures] = defaultdict(list)
    for sample, values in told:
        for key, value in values.items():
            figures[key].append((sample.extent.amount, value))
    return figures


def _mean(figures: Figures) -> float:
    return sum(value for _, value in figures) / len(figures)
