"""``polycast grow``: its contract, its errors, and Ctrl-C."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polycast.cli.app import run
from polycast.tree import METHODS
from tests.cli.interrupting import interrupted
from tests.cli.questions import EXAMPLES, assert_refused, written
from tests.tree.instances import random_servers

EXAMPLE = EXAMPLES / "grow.json"
KEYS = ["method", "avg_loss", "lower_bound", "overloaded", "seconds", "losses", "trees"]

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(["grow", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    document: dict[str, Any] = json.loads(printed.out)
    assert list(document) == KEYS
    return document


def question() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(EXAMPLE.read_text())
    return document


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(capsys: Capture, method: str) -> None:
    document = answer(capsys, str(EXAMPLE), "--method", method)
    names = [server["name"] for server in question()["servers"]]
    assert document["method"] == method
    assert list(document["losses"]) == names[1:]
    assert document["avg_loss"] == pytest.approx(sum(document["losses"].values()) / 4)
    assert [tree["object"] for tree in document["trees"]] == [None]
    assert set(document["trees"][0]["parents"]) == set(names[1:])


def test_one_tree_for_each_object(capsys: Capture) -> None:
    document = answer(capsys, str(EXAMPLE), "--per-object")
    members = {tree["object"]: set(tree["parents"]) for tree in document["trees"]}
    assert members == {"gold": {"london", "paris"}, "oil": {"paris", "oslo"}}


def test_evaluate_reads_only_the_trees(capsys: Capture, tmp_path: Path) -> None:
    options = ("--model", "precise", "--overhead", "1e-4,1e-4,1,1")
    for more in ((), ("--per-object",)):
        grown = answer(capsys, str(EXAMPLE), *options, *more)
        file = tmp_path / "answer.json"
        file.write_text(json.dumps(grown | {"avg_loss": "?", "remark": 1}))
        told = answer(capsys, str(EXAMPLE), *options, "--evaluate", str(file))
        assert told["method"] == "evaluate"
        assert (told["losses"], told["trees"]) == (grown["losses"], grown["trees"])


def test_infinite_losses_are_null(capsys: Capture, tmp_path: Path) -> None:
    document = question()
    for server in document["servers"]:
        server["filter_time"] = 10
    slow = answer(capsys, written(tmp_path, document), "--method", "star")
    assert slow["avg_loss"] is slow["lower_bound"] is slow["losses"]["oslo"] is None
    assert slow["losses"]["relay"] == 0.0
    assert slow["overloaded"] == ["exchange"]


def broken(change: str) -> Any:
    document = question()
    exec(change, {"q": document, "s": document["servers"]})
    return document


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("s[1]['filter_time'] = -1", "servers[1].filter_time: -1.0 is not a finite number of 0 or more"),
        ("s[1]['rates']['gold'] = -1", "servers[1].rates.gold: -1.0 is not"),
        ("s[1]['rates']['gold'] = None", "servers[1].rates[...]: Expected `float`, got `null`"),
        ("del s[1]['transmit_time']", "servers[1]: Object missing required field `transmit_time`"),
        ("s[1]['speed'] = 1", "servers[1]: Object contains unknown field `speed`"),
        ("s[2]['name'] = 'london'", 'servers[2].name: "london" stands twice'),
        ("s.clear(); q['delays'].clear()", "servers: there is no server; the first is the source"),
        ("q['delays'].pop()", "delays: 4 rows for 5 servers"),
        ("q['delays'][3].pop()", "delays[3]: 4 delays for 5 servers"),
        ("q['delays'][3][1] = -0.5", "delays[3][1]: -0.5 is not a finite number of 0 or more"),
        ("q['delays'][3][1] = 'far'", "delays[3][1]: Expected `float`, got `str`"),
        ("q['more'] = 1", "Object contains unknown field `more`"),
        ("del q['delays']", "Object missing required field `delays`"),
    ],
)
def test_a_bad_question_is_one_line_that_names_the_place(
    capsys: Capture, tmp_path: Path, change: str, place: str
) -> None:
    assert_refused(capsys, place, "grow", written(tmp_path, broken(change)))


@pytest.mark.parametrize(
    ("trees", "place"),
    [
        ([], 'trees: the tree for "gold" is missing'),
        ([{"object": "tin", "parents": {}}], 'trees[0].object: nobody wants an object "tin"'),
        ([{"object": "oil", "parents": {}}] * 2, "trees[1].object: has a tree already"),
        ([{"object": None, "parents": {"oslo": "rome"}}], 'trees[0].parents.oslo: "rome" is not in the tree'),
        ([{"object": None, "parents": {"oslo": "exchange"}}], 'trees[0].parents: "london" is missing'),
        ([{"object": None, "parents": {"oslo": "paris", "paris": "oslo"}}], "trees[0].parents: "),
        ([{"object": None, "parents": {"exchange": "oslo"}}], "trees[0].parents.exchange: the root has no parent"),
        ([{"object": "oil", "parents": {"paris": "exchange", "oslo": "exchange"}},
          {"object": "gold", "parents": {"oslo": "exchange"}}], "trees[1].parents.oslo: no such server"),
    ],
)  # fmt: skip
def test_impossible_trees_are_errors(capsys: Capture, tmp_path: Path, trees: list[Any], place: str) -> None:
    assert_refused(capsys, place, "grow", str(EXAMPLE), "--evaluate", written(tmp_path, {"trees": trees}))


@pytest.mark.parametrize(
    "options",
    [("--overhead", "1,2,3"), ("--overhead", "1,2,3,x"), ("--overhead", "1,2,3,0"), ("--overhead", "nan,1,1,1"),
     ("--method", "best"), ("--seed", "-1"), ("--model", "vague")],
)  # fmt: skip
def test_wrong_options_are_errors(capsys: Capture, options: tuple[str, ...]) -> None:
    assert_refused(capsys, options[0].strip("-").replace("-", "_"), "grow", str(EXAMPLE), *options)


def test_no_method_is_an_exit_code_of_its_own(capsys: Capture, tmp_path: Path) -> None:
    assert run(["grow", large(tmp_path, 12, 1), "--method", "exact"]) == 3
    assert "exact" in capsys.readouterr().err


def test_ctrl_c_prints_the_best_so_far(tmp_path: Path) -> None:
    file = large(tmp_path, 1000, 400)  # a search of a minute
    for patience in (3.0, 9.0, 27.0):  # on a busy machine the first may come before the search has begun
        code, out = interrupted(["grow", file, "--method", "anneal"], patience)
        if out:
            break
    assert code == 130
    assert len(json.loads(out)["trees"][0]["parents"]) == 999


def large(folder: Path, servers: int, objects: int) -> str:
    """A question of some size, as a file."""
    drawn = random_servers(np.random.default_rng(2), servers, objects)
    entries = [
        {
            "name": drawn.names[i],
            "filter_time": float(drawn.filter_time[i]),
            "transmit_time": float(drawn.transmit_time[i]),
            "rates": dict(zip(drawn.objects, drawn.rates[i].tolist(), strict=True)),
        }
        for i in range(servers)
    ]
    return written(folder, {"servers": entries, "delays": drawn.delays.tolist()})
