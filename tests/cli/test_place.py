"""`polycast place` as its users run it: JSON in, JSON out, one line for every fault."""

import copy
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polycast.cli.app import run
from polycast.place import METHODS
from tests.cli.questions import written
from tests.problems import random_problem

Document = dict[str, Any]

INSTANCE: Document = {
    "formats": [
        {"name": "pdf", "size": 18.0},
        {"name": "jpg", "size": 3.0},
        {"name": "txt", "size": 0.1},
        {"name": "braille", "size": None},
    ],
    "operators": [
        {"from": "pdf", "to": "jpg", "cost": 4.2},
        {"from": "pdf", "to": "txt", "cost": 1.5},
        {"from": "txt", "to": "braille", "cost": 0.5},
    ],
    "brokers": [
        {"name": "county"},
        {"name": "north", "parent": "county", "link_cost": 2.0, "wants": ["pdf", "jpg"]},
        {"name": "south", "parent": "county", "wants": ["braille", {"any": {"jpg": 0.0, "txt": 2.5}}]},
    ],
    "published": "pdf",
}

Placed = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Placed:
    """Run the command on a document: its exit code, its answer, and what it complained of."""

    def command(instance: Document, *options: str) -> tuple[int, Any, str]:
        code = run(["place", written(tmp_path, instance, "instance.json"), *options])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return command


def test_the_answer_has_every_documented_key(place: Placed) -> None:
    code, answer, complaint = place(INSTANCE)
    assert (code, complaint) == (0, "")
    keys = "method cost transmission conversion penalty lower_bound optimal seconds history brokers"
    assert list(answer) == keys.split()
    # pdf to the north, made into a jpg there; made into a text for the south, at the county
    assert answer["cost"] == pytest.approx(2 * 18 + 4.2 + 1.5 + 0.1 + 0.5 + 2.5)
    assert answer["optimal"] is True
    assert answer["history"] is None
    assert [broker["name"] for broker in answer["brokers"]] == ["county", "north", "south"]
    assert answer["brokers"][2]["delivers"] == ["braille", "txt"]


def test_figures_have_no_more_digits_than_they_are_worth(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["place", str(Path(__file__).parents[2] / "examples" / "place.json")]) == 0
    text = capsys.readouterr().out
    assert '"cost":45.8,' in text
    assert '"lower_bound":45.8,' in text
    assert len(str(json.loads(text)["seconds"]).partition(".")[2]) <= 6


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(place: Placed, method: str) -> None:
    code, answer, _ = place(INSTANCE, "--method", method)
    assert code == 0
    assert answer["method"] == method
    assert answer["cost"] >= place(INSTANCE)[1]["cost"] - 1e-9
    assert answer["lower_bound"] <= place(INSTANCE)[1]["cost"] + 1e-9


def test_options_reach_the_method(place: Placed) -> None:
    options = "--method refine --iterations 7 --select random --depth 2 --start reduced --seed 3 --history"
    code, answer, _ = place(INSTANCE, *options.split())
    assert code == 0
    assert len(answer["history"]) == 7


def test_more_rounds_than_anybody_can_wait_for_end_where_nothing_changes_any_more(place: Placed) -> None:
    code, answer, _ = place(INSTANCE, "--method", "refine", "--iterations", "1000000000")
    assert (code, answer["history"]) == (0, None)


def test_weights_on_the_line_stand_before_those_of_the_file(place: Placed) -> None:
    code, answer, _ = place(INSTANCE | {"alpha": 5.0}, "--alpha", "0", "--beta", "2")
    assert code == 0
    assert answer["cost"] == pytest.approx(2 * answer["conversion"] + answer["penalty"])


def test_a_graph_by_name_or_path(place: Placed, tmp_path: Path) -> None:
    brokers = {"brokers": [{"name": "a"}, {"name": "b", "parent": "a", "wants": ["jpg"]}], "published": "pdf"}
    graph = {key: INSTANCE[key] for key in ("formats", "operators")}
    (tmp_path / "mine.json").write_text(json.dumps(graph))
    code, answer, _ = place(brokers | {"graph": str(tmp_path / "mine.json")})
    assert (code, answer["cost"]) == (0, 7.2)
    video = {"graph": "video-16", "published": "mp4-720", "brokers": [{"name": "a", "wants": ["3gp-96"]}]}
    assert place(video)[0] == 0
    code, _, complaint = place(brokers | {"graph": "no-such-graph"})
    assert code == 2
    assert "no-such-graph" in complaint
    assert place(INSTANCE | {"graph": "video-16"})[0] == 2


def test_what_is_drawn_goes_to_standard_error(place: Placed) -> None:
    code, answer, drawing = place(INSTANCE, "--draw")
    assert code == 0
    assert answer["optimal"]
    assert "braille" in drawing


def broken(**changes: Any) -> Callable[[Document], None]:
    return lambda document: document.update(changes)


def in_broker(number: int, **changes: Any) -> Callable[[Document], None]:
    return lambda document: document["brokers"][number].update(changes)


def doubled(key: str) -> Callable[[Document], None]:
    return lambda document: document[key].append(document[key][-1])


FAULTS = {
    "two roots": (in_broker(1, parent=None), "second root"),
    "an unknown parent": (in_broker(1, parent="west"), '"west"'),
    "a circle": (in_broker(1, parent="north"), "circle"),
    "no root": (in_broker(0, parent="north"), "no root"),
    "a negative cost": (in_broker(1, link_cost=-1.0), "link_cost"),
    "a text for a number": (in_broker(1, link_cost="much"), "link_cost"),
    "a number too large": (in_broker(1, link_cost=1e308), "costs"),
    "an empty name": (in_broker(1, name=""), "name"),
    "a broker twice": (doubled("brokers"), '"south"'),
    "a format twice": (doubled("formats"), '"braille"'),
    "an operator twice": (doubled("operators"), "braille"),
    "an unknown format": (in_broker(1, wants=["gif"]), '"gif"'),
    "an unknown format among several": (in_broker(1, wants=[{"any": {"gif": 0.0}}]), '"gif"'),
    "an empty any": (in_broker(1, wants=[{"any": {}}]), "any"),
    "a negative penalty": (in_broker(1, wants=[{"any": {"jpg": -1.0}}]), "penalty"),
    "an unknown key": (broken(colour="red"), "colour"),
    "an unknown key inside": (in_broker(1, colour="red"), "colour"),
    "nobody publishes": (broken(published="gif"), '"gif"'),
    "no brokers": (broken(brokers=[]), "no broker"),
    "a negative weight": (broken(alpha=-1.0), "alpha"),
    "an operator from nowhere": (broken(operators=[{"from": "gif", "to": "jpg", "cost": 1.0}]), '"gif"'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_that_names_the_place(place: Placed, fault: str) -> None:
    change, word = FAULTS[fault]
    document = copy.deepcopy(INSTANCE)
    change(document)
    code, answer, complaint = place(document)
    assert (code, answer) == (2, None)
    assert complaint.startswith("polycast: ")
    assert "instance.json" in complaint
    assert complaint.count("\n") == 1
    assert word in complaint


@pytest.mark.parametrize(
    "options",
    [
        "--method fastest",
        "--iterations -1",
        "--iterations 99999999999999999999",
        "--depth 4",
        "--select all",
        "--start here",
        "--time-limit 0",
        "--seed -1",
    ],
)
def test_wrong_options_are_one_line(place: Placed, options: str) -> None:
    code, answer, complaint = place(INSTANCE, *options.split())
    assert (code, answer) == (2, None)
    assert complaint.count("\n") == 1


def test_what_cannot_be_met_has_an_exit_code_of_its_own(place: Placed) -> None:
    document = INSTANCE | {"published": "jpg"}
    code, answer, complaint = place(document)
    assert (code, answer) == (3, None)
    assert complaint == 'polycast: broker "north" wants "pdf": no operators lead there from "jpg"\n'


@pytest.fixture(scope="module")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question that keeps refinement busy for minutes."""
    problem = random_problem(np.random.default_rng(1), 2_000, 16, density=1.0, most_wants=4)
    sources, targets = np.nonzero(np.isfinite(problem.conversion))
    names = problem.format_names
    document = {
        "formats": [{"name": n, "size": s} for n, s in zip(names, problem.size.tolist(), strict=True)],
        "operators": [
            {"from": names[i], "to": names[j], "cost": float(problem.conversion[i, j])}
            for i, j in zip(sources, targets, strict=True)
        ],
        "brokers": [
            {
                "name": f"N{i}",
                "parent": None if parent < 0 else f"N{parent}",
                "link_cost": float(problem.link_cost[i]),
                "wants": [names[f] for f in sorted({(i * 7 + k) % 16 for k in range(i % 4)})],
            }
            for i, parent in enumerate(problem.parent.tolist())
        ],
        "published": names[problem.published],
    }
    path = tmp_path_factory.mktemp("long") / "instance.json"
    path.write_text(json.dumps(document))
    return path


ENDLESS = ["--method", "refine", "--select", "random", "--depth", "3", "--iterations", "100000000"]


def test_at_a_time_limit_the_best_so_far_is_the_answer(
    long_work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["place", str(long_work), *ENDLESS, "--time-limit", "0.3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["seconds"] < 30
    assert math.isfinite(answer["cost"])


def test_ctrl_c_leaves_with_the_best_so_far(long_work: Path) -> None:
    command = [sys.executable, "-m", "polycast", "place", str(long_work), *ENDLESS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        _wait_until_it_works(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert json.loads(out)["cost"] > 0
    assert b"Traceback" not in err


def _wait_until_it_works(pid: int) -> None:
    """Two more seconds of processor time than a start takes: by then the search is under way."""
    ticks, limit = os.sysconf("SC_CLK_TCK"), time.monotonic() + 120
    while time.monotonic() < limit:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if (int(times[11]) + int(times[12])) / ticks > 4:
            return
        time.sleep(0.05)
