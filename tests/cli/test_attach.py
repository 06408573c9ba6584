"""``polycast attach``: its contract, its errors, and Ctrl-C."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polycast.cli.app import run
from polycast.overlay.solve import METHODS
from tests.cli.interrupting import interrupted
from tests.cli.questions import EXAMPLES, assert_refused, written
from tests.overlay.overlays import random_overlay

EXAMPLE = EXAMPLES / "attach.json"
KEYS = ["method", "cost", "access", "core", "lower_bound", "over", "seconds", "attachments"]

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(["attach", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    document: dict[str, Any] = json.loads(printed.out)
    assert list(document) == KEYS
    return document


def question() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(EXAMPLE.read_text())
    return document


def test_the_document_asks_the_example_and_tells_every_key_and_method(capsys: Capture) -> None:
    text = (EXAMPLE.parents[1] / "docs" / "attach.md").read_text()
    shown = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    assert json.loads(shown[1]) == question()
    exact = answer(capsys, str(EXAMPLE), "--method", "exact")
    assert exact["cost"] == exact["lower_bound"] == 37.0
    assert exact["attachments"] == {user["name"]: "hub" for user in question()["users"]} | {"gauge": "north"}
    assert answer(capsys, str(EXAMPLE), "--method", "greedy")["cost"] == 40.5
    assert all(f"`{key}`" in text for key in exact)
    assert all(f"| `{method}` |" in text for method in METHODS)


@pytest.mark.parametrize("core", ["per-publisher", "shared"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(capsys: Capture, method: str, core: str) -> None:
    document = answer(capsys, str(EXAMPLE), "--method", method, "--core", core, "--seed", "3")
    assert document["method"] == method
    assert document["cost"] == pytest.approx(document["access"] + document["core"])
    assert document["lower_bound"] <= document["cost"]
    assert document["over"] == []
    assert list(document["attachments"]) == [user["name"] for user in question()["users"]]


def test_evaluate_reads_only_the_attachments(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    for core in ("per-publisher", "shared"):
        found = answer(capsys, str(EXAMPLE), "--core", core)
        file.write_text(json.dumps(found | {"cost": "?", "remark": 1}))
        told = answer(capsys, str(EXAMPLE), "--core", core, "--evaluate", str(file))
        assert told["method"] == "evaluate"
        assert [told[key] for key in ("cost", "attachments")] == [found[key] for key in ("cost", "attachments")]


def test_evaluate_tells_what_is_over(capsys: Capture, tmp_path: Path) -> None:
    document = question()
    document["brokers"][0]["capacity"] = 1.0
    stated = {"attachments": {user["name"]: "north" for user in document["users"]}}
    file = written(tmp_path, stated, "answer.json")
    assert answer(capsys, written(tmp_path, document), "--evaluate", file)["over"] == ["north"]


def test_what_nobody_wants_can_be_left_out(capsys: Capture, tmp_path: Path) -> None:
    document = question()
    for user in document["users"]:
        user["interest"][0] = 0
    with_all = answer(capsys, written(tmp_path, document), "--method", "exact")
    assert answer(capsys, written(tmp_path, document), "--method", "exact", "--wanted-only")["cost"] == (
        with_all["cost"] - 2.0
    )


def test_a_detour_is_a_warning(capsys: Capture, tmp_path: Path) -> None:
    document = question()
    document["core_cost"][0][1] = document["core_cost"][1][0] = 40.0
    assert run(["attach", written(tmp_path, document)]) == 0
    error = capsys.readouterr().err
    assert "warning: core_cost is not metric" in error
    assert '"hub"' in error
    assert error.count("\n") == 1


def broken(change: str) -> Any:
    document = question()
    exec(change, {"q": document, "u": document["users"], "b": document["brokers"]})
    return document


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("u[1]['publishes'][1] = -1", "users[1].publishes[1]: -1.0 is not a finite number of 0 or more"),
        ("u[1]['publishes'][1] = None", "users[1].publishes[1]: Expected `float`, got `null`"),
        ("u[1]['publishes'].pop()", "users[1].publishes: has 2 entries, and 3 are needed"),
        ("u[1]['interest'][1] = 2", "users[1].interest[1]"),
        ("u[1]['interest'].pop()", "users[1].interest: has 2 entries, and 3 are needed"),
        ("u[1]['name'] = 'gauge'", 'users[1].name: a second one named "gauge"'),
        ("u[1]['more'] = 1", "users[1]: Object contains unknown field `more`"),
        ("b[1]['name'] = 'hub'", 'brokers[2].name: a second one named "hub"'),
        ("b[1]['capacity'] = -1", "brokers[1].capacity: -1.0 is not"),
        ("b.clear(); q['core_cost'].clear(); [row.clear() for row in q['access_cost']]", "brokers: there is no"),
        ("q['access_cost'].pop()", "access_cost: has 4 rows, and 5 are needed"),
        ("q['access_cost'][2].pop()", "access_cost[2]: has 2 entries, and 3 are needed"),
        ("q['core_cost'][0][1] = 3.0", "core_cost[0][1]: 3.0 is not what core_cost[1][0] says, 4.0"),
        ("q['core_cost'][0][1] = None", "core_cost[0][1]: Expected `float`, got `null`"),
        ("q['channels'] = -1", "channels: Expected `int` >= 0"),
        ("del q['users']", "Object missing required field `users`"),
    ],
)
def test_a_bad_question_is_one_line_that_names_the_place(
    capsys: Capture, tmp_path: Path, change: str, place: str
) -> None:
    assert_refused(capsys, place, "attach", written(tmp_path, broken(change)))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("a.clear()", 'the user "gauge" is missing'),
        ("a['ghost'] = 'hub'", 'no user is named "ghost"'),
        ("a['gauge'] = 'moon'", 'attachments.gauge: no broker is named "moon"'),
        ("a['library'] = 'south'", 'attachments.library: this user cannot use the broker "south"'),
        ("a['gauge'] = 1", "attachments"),
    ],
)
def test_an_impossible_attachment_is_an_error(capsys: Capture, tmp_path: Path, change: str, place: str) -> None:
    attachments: dict[str, Any] = {user["name"]: "hub" for user in question()["users"]}
    exec(change, {"a": attachments})
    assert_refused(
        capsys, place, "attach", str(EXAMPLE), "--evaluate", written(tmp_path, {"attachments": attachments})
    )


@pytest.mark.parametrize("method", METHODS)
def test_too_little_room_is_an_exit_code_of_its_own(capsys: Capture, tmp_path: Path, method: str) -> None:
    document = question()
    for broker in document["brokers"]:
        broker["capacity"] = 4.0
    assert run(["attach", written(tmp_path, document), "--method", method]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "none exists: " in printed.err


def test_nobody_and_nothing(capsys: Capture, tmp_path: Path) -> None:
    document = {"channels": 0, "brokers": [{"name": "b"}], "users": [], "access_cost": [], "core_cost": [[0.0]]}
    for method in METHODS:
        found = answer(capsys, written(tmp_path, document), "--method", method)
        assert (found["cost"], found["lower_bound"], found["attachments"]) == (0.0, 0.0, {})


@pytest.mark.parametrize(
    "options",
    [("--method", "best"), ("--core", "none"), ("--seed", "-1"), ("--time-limit", "0"), ("--time-limit", "nan")],
)  # fmt: skip
def test_wrong_options_are_errors(capsys: Capture, options: tuple[str, ...]) -> None:
    assert_refused(capsys, options[0].strip("-").replace("-", "_"), "attach", str(EXAMPLE), *options)


@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_however_short_has_an_answer(capsys: Capture, method: str) -> None:
    found = answer(capsys, str(EXAMPLE), "--method", method, "--time-limit", "1e-9")
    assert len(found["attachments"]) == 5
    assert found["lower_bound"] <= 37.0


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(("rooms", "code"), [((11.0, 12.0), 0), ((11.5, 11.5), 3), ((11.0 - 1e-7, 12.5), 3)])
def test_whether_users_fit_is_known_in_any_unit(
    capsys: Capture, tmp_path: Path, rooms: tuple[float, ...], code: int, unit: float
) -> None:
    document = {
        "channels": 1,
        "brokers": [{"name": f"b{i}", "capacity": room * unit} for i, room in enumerate(rooms)],
        "users": [
            {"name": f"u{size}", "publishes": [size * unit], "interest": [0]} for size in (9.0, 8.0, 4.0, 2.0)
        ],
        "access_cost": [[1.0, 2.0]] * 4,
        "core_cost": [[0.0, 1.0], [1.0, 0.0]],
    }
    assert run(["attach", written(tmp_path, document)]) == code
    assert ("none exists: the users do not fit" in capsys.readouterr().err) == (code == 3)


def test_what_is_too_large_for_exact_is_told(capsys: Capture, tmp_path: Path) -> None:
    assert run(["attach", large(tmp_path, 200, 20, 20), "--method", "exact"]) == 3
    assert "exact is for small networks" in capsys.readouterr().err


def test_ctrl_c_prints_the_best_so_far(tmp_path: Path) -> None:
    file = large(tmp_path, 30, 6, 8)
    for patience in (4.0, 12.0, 36.0):  # on a busy machine the first may come before the search has begun
        code, out = interrupted(["attach", file, "--method", "exact"], patience)
        if out:
            break
    assert code == 130
    assert len(json.loads(out)["attachments"]) == 30


def large(folder: Path, users: int, brokers: int, channels: int) -> str:
    """A question of some size, as a file."""
    drawn = random_overlay(np.random.default_rng(1), users, brokers, channels)
    names = [f"u{i}" for i in range(users)]
    rows = zip(names, drawn.publishes.tolist(), drawn.interest.tolist(), strict=True)
    return written(
        folder,
        {
            "channels": channels,
            "brokers": [{"name": f"b{i}", "capacity": room} for i, room in enumerate(drawn.capacity.tolist())],
            "users": [{"name": name, "publishes": sends, "interest": wants} for name, sends, wants in rows],
            "access_cost": drawn.access_cost.tolist(),
            "core_cost": drawn.core_cost.tolist(),
        },
    )
