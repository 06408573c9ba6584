"""Measures what the forms of some samples weigh and what making them costs: a content graph to plan with.

Running every operator would take long: sixteen forms of video have 210. What one costs is close to the decoding
of its source plus the encoding of its target, a little more where the picture is scaled, and a little less where
the sound is copied. So where there are many, a few of them are run, the rest is told by an ``EdgeModel``, and how
far that is off is measured and reported.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from polycast.convert import catalogue, course, growth, media, routes
from polycast.convert.bench import Bench, Sample, Taken
from polycast.convert.course import Course, Group
from polycast.convert.edge_model import Check, Edge, Extras, check, fit
from polycast.errors import BadInput, Cancelled, ConversionError
from polycast.model.format import ContentGraph, Format, Operator

MEGABYTE = 1e6
ENOUGH = 5
"""Operators that a check needs, to say anything."""

Progress = Callable[[float, str], None]


class Calibration(NamedTuple):
    """The graph, and what each sample has told."""

    graph: ContentGraph
    taken: tuple[Taken, ...]


def open_sample(bench: Bench, path: Path, template: ContentGraph | None = None) -> Sample:
    """A sample, in the form of the template that suits it, or else in the one that its bytes tell."""
    if not path.is_file():
        raise BadInput(str(path), "no such file")
    form = template[routes.form_in(template, path, str(path))] if template else catalogue.of_file(path)
    try:
        return bench.sample(path, form)
    except ConversionError as error:
        raise type(error)(f"{path}: {error}") from None


def every_form(samples: Iterable[Sample], names: Iterable[str] = ()) -> ContentGraph:
    """All that can be made of some samples, or the forms named, not measured yet."""
    samples = tuple(samples)
    chosen = [catalogue.named(name) for name in names]
    forms = {sample.form.name: sample.form for sample in samples} | {form.name: form for form in chosen}
    if not chosen:
        forms |= {form.name: form for form in catalogue.formats() if any(_applies(form, one) for one in samples)}
    pairs = catalogue.pairs(forms.values())
    operators = tuple(Operator(one.name, other.name, 0.0) for one, other in pairs)
    return ContentGraph(formats=tuple(forms.values()), operators=operators)


def _applies(form: Format, sample: Sample) -> bool:
    """Whether a form is no larger than the picture of a sample, where it is a form of such pictures."""
    height = sample.extent.height
    return media.kind(form) != "video" or not (height and form.height) or form.height <= height


def calibrate(
    bench: Bench,
    samples: Sequence[Sample],
    wanted: ContentGraph,
    every_edge: bool = False,
    progress: Progress | None = None,
) -> Calibration:
    """Measure the forms and operators of a graph on samples; what does not apply to them is left out.

    Parameters
    ----------
    wanted
        Its sizes and costs are not looked at.
    every_edge
        Run every operator, rather than some of them.
    """
    courses = [course.plan(sample.form.name, wanted, every_edge) for sample in samples]
    steps = _Steps(sum(len(one.tree) + len(one.rest) for one in courses), progress)
    with bench.pool.private_folder() as folder:
        taken = tuple(
            _take(bench, sample, wanted, one, folder / str(number), steps)
            for number, (sample, one) in enumerate(zip(samples, courses, strict=True))
        )
    return Calibration(growth.joined(wanted, taken), taken)


class _Steps:
    """Tells how much has been measured."""

    def __init__(self, steps: int, progress: Progress | None) -> None:
        self._steps, self._progress, self._done = steps, progress, 0

    def step(self, edge: Edge) -> None:
        if self._progress is not None:
            self._progress(self._done / max(1, self._steps), f"{edge[0]} → {edge[1]}")
        self._done += 1


def _take(bench: Bench, sample: Sample, wanted: ContentGraph, one: Course, folder: Path, steps: _Steps) -> Taken:
    """Run the course of one sample."""
    folder.mkdir()
    files = {sample.form.name: sample.path}
    costs: dict[Edge, float] = {}
    failed: dict[Edge, str] = {}
    for edge in (*one.tree, *one.rest):
        steps.step(edge)
        source, target = edge
        if source not in files or (edge not in one.tree and target not in files):
            continue
        keep = folder / f"form-{wanted.index[target]}"
        try:
            costs[edge] = bench.cost(
                wanted[source], wanted[target], files[source], keep if edge in one.tree else None
            )
        except Cancelled:
            raise
        except ConversionError as error:
            failed[edge] = str(error)
            continue
        files.setdefault(target, keep)
    sizes = {name: file.stat().st_size / MEGABYTE for name, file in files.items()}
    runs = len(costs)
    extras = course.extras(wanted)
    checks = {group.tool: _told(group, costs, sizes, extras) for group in one.groups}
    return Taken(sample, sizes, costs, runs, {tool: one for tool, one in checks.items() if one}, failed)


def _told(group: Group, costs: dict[Edge, float], sizes: dict[str, float], extras: Extras) -> Check | None:
    """Add what the model tells of a tool's operators to what was measured; how far it was off, if checked."""
    fitted = {edge: costs[edge] for edge in group.fitted if edge in costs}
    checked = {edge: costs[edge] for edge in group.checked if edge in costs}
    told = [edge for edge in group.told if edge[0] in sizes and edge[1] in sizes]
    if fitted and told:
        model = fit(fitted | checked, extras)
        costs |= {edge: model.cost(edge) for edge in told if model.knows(edge)}
    return check(fit(fitted, extras), checked) if fitted and len(checked) >= ENOUGH else None
