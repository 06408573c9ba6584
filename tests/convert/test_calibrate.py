"""What is measured is what planning needs: sizes, costs, how both grow, and how far the model is off."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import samples
from polycast.convert import growth
from polycast.convert.bench import Bench, Sample, Taken
from polycast.convert.calibrate import calibrate, every_form, open_sample
from polycast.convert.catalogue import named
from polycast.convert.course import plan
from polycast.convert.pool import Pool
from polycast.convert.tools.extent import Extent
from polycast.errors import BadInput, NoSolution
from polycast.model.format import ContentGraph, Format, Operator


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Pool(1) as pool:
        yield Bench(pool, repeat=1)


@pytest.fixture(scope="module")
def the_map(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return open_sample(bench, samples.annotated_map(tmp_path_factory.mktemp("map") / "map.pdf"))


@pytest.fixture(scope="module")
def clip(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    return open_sample(bench, samples.video(path, seconds=0.4, size=(320, 240), sound=False))


def test_how_much_there_is(the_map: Sample, clip: Sample) -> None:
    assert (the_map.form.name, the_map.extent) == ("pdf", Extent("page", 1.0))
    assert (clip.form.name, clip.extent) == ("mp4", Extent("second", 0.4, 320, 240))


def test_a_map_is_measured(bench: Bench, the_map: Sample) -> None:
    wanted = every_form([the_map], ["jpg-320", "text", "announcement"])
    seen: list[float] = []
    graph = calibrate(bench, [the_map], wanted, progress=lambda share, _: seen.append(share)).graph
    assert {(one.source, one.target) for one in graph.operators} == {
        ("pdf", "jpg-320"),
        ("pdf", "text"),
        ("text", "announcement"),
    }
    assert graph["pdf"].size == pytest.approx(the_map.path.stat().st_size / 1e6, abs=1e-6)
    assert all(format.size and format.size > 0 for format in graph.formats)
    assert all(operator.cost > 0 for operator in graph.operators)
    assert graph.measured is not None
    assert (graph.measured.unit, graph.measured.amount) == ("page", 1.0)
    assert graph["text"].per_unit == graph["text"].size
    assert graph["jpg-320"].per_unit == graph["announcement"].per_unit == 0.0
    assert seen == sorted(seen)


def test_what_cannot_be_made_is_left_out_and_said(bench: Bench, clip: Sample) -> None:
    done = calibrate(bench, [clip], every_form([clip], ["3gp-96", "mp3", "wav"]))
    assert set(done.graph.index) == {"mp4", "3gp-96"}
    assert set(done.taken[0].failed.values()) == {"no sound in it"}


def test_the_rest_is_told_by_the_model(bench: Bench, clip: Sample) -> None:
    names = [f"{kind}-{height}" for kind in ("mp4", "avi", "flv") for height in (240, 180, 120, 60)]
    wanted = every_form([clip], names)
    done = calibrate(bench, [clip], wanted)
    assert done.taken[0].runs < len(done.graph.operators) == len(wanted.operators)
    off = done.taken[0].checks["video"]
    assert off.edges > 5
    assert off.median < 0.5


def test_a_graph_that_asks_for_what_no_tool_makes(bench: Bench, the_map: Sample) -> None:
    pdf, other = the_map.form, Format(name="x", size=None, media_type="x/y")
    with pytest.raises(NoSolution):
        calibrate(bench, [the_map], ContentGraph(formats=(pdf, other), operators=(Operator("pdf", "x", 1.0),)))


def test_all_that_applies_is_no_larger_than_the_sample(the_map: Sample, clip: Sample) -> None:
    assert {"mp4", "avi", "3gp-144", "jpg", "mp3"} <= set(every_form([clip]).index)
    assert "mp4-360" not in every_form([clip])
    reached = every_form([the_map]).cheapest_chains(["pdf"])
    assert {"jpg-1280", "announcement", "opus", "thumbnail"} <= set(reached)
    assert "mp4" not in reached


def test_forms_are_made_in_as_few_steps_as_can_be_and_never_from_worse() -> None:
    forms = [named(name) for name in ("mp4-720", "avi-720", "mp4-360", "3gp-96", "3gp-144")]
    edges = [Operator(one.name, other.name, 1.0) for one in forms for other in forms if one is not other]
    course = plan("mp4-720", ContentGraph(formats=tuple(forms), operators=tuple(edges)))
    assert {source for source, _ in course.tree} == {"mp4-720"}
    (group,) = course.groups
    assert ("mp4-360", "mp4-720") in group.told
    assert ("mp4-360", "mp4-720") not in (*group.fitted, *course.rest)


def test_how_sizes_grow_is_the_line_through_several_samples() -> None:
    assert growth.slope([(4.0, 2.0)]) == 0.5
    assert growth.slope([(1.0, 3.0), (3.0, 7.0)]) == pytest.approx(2.0)
    assert growth.slope([(1.0, 3.0), (3.0, 1.0)]) == 0.0


def test_samples_of_unlike_kinds_have_no_common_unit(the_map: Sample, clip: Sample) -> None:
    wanted = ContentGraph(formats=(the_map.form, clip.form), operators=())
    taken = [Taken(one, {one.form.name: 1.0}, {}, 0, {}, {}) for one in (the_map, clip)]
    graph = growth.joined(wanted, taken)
    assert graph.measured is not None
    assert graph.measured.unit is None
    assert graph["pdf"].per_unit is None


def test_a_sample_that_is_not_there(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        open_sample(bench, tmp_path / "none.pdf")
