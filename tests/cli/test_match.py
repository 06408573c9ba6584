"""``polycast match``: its contract, its errors, standard input, Ctrl-C; and it says what ``evaluate`` says."""

import io
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from polycast.cli.app import run
from polycast.interest.cesql import evaluate
from polycast.model.subscription import AllOf, AnyOf, Exact, Filter, Not, Prefix, Sql, Suffix, read_filters
from tests.interest import expressions

Capture = pytest.CaptureFixture[str]

EVENT = {"specversion": "1.0", "source": "/county", "type": "org.example.map", "id": "1"}
SUBSCRIPTION = {"id": "s"}


def written(file: Path, documents: Iterable[Any]) -> str:
    """Each document on a line; texts and bytes as they are."""
    lines = (
        document if isinstance(document, bytes) else str.encode(document)
        if isinstance(document, str) else json.dumps(document).encode()
        for document in documents
    )  # fmt: skip
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(file)


def matched(capsys: Capture, folder: Path, subscriptions: Iterable[Any], events: Iterable[Any]) -> list[Any]:
    """What is printed, line by line."""
    code = run(["match", "--subscriptions", written(folder / "subs.jsonl", subscriptions),
                "--events", written(folder / "events.jsonl", events)])  # fmt: skip
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    return [json.loads(line) for line in printed.out.splitlines()]


def test_a_line_for_every_event_with_ids_in_the_order_of_the_file(capsys: Capture, tmp_path: Path) -> None:
    subscriptions = [
        {"id": "z", "filters": [{"sql": "level > 2.5"}], "profile": {"accept": "image/*", "max_width": 640}},
        {"id": "everything"},
        {"id": "a", "filters": [{"prefix": {"type": "org."}}, {"not": {"exact": {"level": "3"}}}]},
        {"id": "payload", "filters": [{"sql": "data.lat > 33"}]},
    ]
    events = [EVENT | {"id": "2", "level": 3}, EVENT | {"data": {"lat": 34.5}}, "", EVENT | {"id": "2"}]
    assert matched(capsys, tmp_path, subscriptions, events) == [
        {"event": "2", "subscriptions": ["z", "everything"]},
        {"event": "1", "subscriptions": ["everything", "a", "payload"]},
        {"event": "2", "subscriptions": ["everything", "a"]},
    ]


def test_nothing_to_match(capsys: Capture, tmp_path: Path) -> None:
    assert matched(capsys, tmp_path, [], [EVENT]) == [{"event": "1", "subscriptions": []}]
    assert matched(capsys, tmp_path, [SUBSCRIPTION], []) == []


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n \t\n\r\n", b""])
def test_marks_and_ends_of_lines(capsys: Capture, tmp_path: Path, mark: bytes, end: bytes) -> None:
    subscription, event = (json.dumps(one).encode() for one in (SUBSCRIPTION, EVENT))
    wanted = [{"event": "1", "subscriptions": ["s"]}]
    assert matched(capsys, tmp_path, [mark + subscription + end], [mark + event + end]) == wanted
    assert matched(capsys, tmp_path, [mark + end], [mark + end]) == []


def test_a_reader_that_goes_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(_command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["event"] == "0"
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 0)


@pytest.mark.parametrize("role", ["--subscriptions", "--events"])
def test_a_dash_is_standard_input(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    lines = {"--subscriptions": [SUBSCRIPTION, {"id": "t"}], "--events": [EVENT]}
    arguments = ["match"]
    for option, documents in lines.items():
        file = written(tmp_path / "file.jsonl" if option != role else tmp_path / "stdin.jsonl", documents)
        if option == role:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(file).read_bytes())))
        arguments += [option, "-" if option == role else file]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out) == {"event": "1", "subscriptions": ["s", "t"]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"id": "s"}, 'subs.jsonl, line 3: a second subscription with the id "s"'),
        ({"id": "e", "sink": "x"}, 'line 3, subscription "e": unknown key `sink`'),
        ('{"id": "e", "id": "f"}', 'line 3: the key "id" stands twice'),
        ('{"id": "e", "filters": [{"exact": {"a": "b", "a": "c"}}]}', 'line 3: the key "a" stands twice'),
        ('{"id": ', "line 3 column 8: not JSON"),
        ("[]", "line 3: a subscription is an object"),
        ({}, "line 3: a subscription needs an `id`"),
        ({"id": "e", "filters": [{"sql": "a = 1 OR b > 'x"}]}, 'line 3, subscription "e", sql, column 14: '),
        ({"id": "e", "filters": [{"any": [{"sql": "a = 1"}, {"near": "x"}]}]}, "filters[0].any[1]: unknown"),
        ({"id": "e", "profile": {"accept": "text"}}, 'line 3, subscription "e", profile.accept, column 1: '),
        (b'{"id": "\xff"}', "line 3: not UTF-8 text"),
        ('{"id": "\\ud800"}', "line 3: holds half of a character"),
        ('{"id": "e", "filters": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 3: "),
    ],
)  # fmt: skip
def test_a_bad_subscription_is_one_line_that_names_it(
    capsys: Capture, tmp_path: Path, line: object, words: str
) -> None:
    _complains(capsys, tmp_path, [SUBSCRIPTION, "", line, {"id": "t"}], [EVENT], words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"id": "2"}, "events.jsonl, line 2, source: required, and missing"),
        (EVENT | {"Level": 1}, "line 2, 'Level': not an attribute's name"),
        (EVENT | {"level": 2**31}, "line 2, level: 2147483648 is not an integer of 32 bits"),
        (EVENT | {"level": 1.5}, "line 2, level: 1.5 is not a string"),
        (EVENT | {"data": 1, "data_base64": "AP8="}, "line 2: `data` and `data_base64` exclude each other"),
        ('{"id": "2", "id": "3"}', 'line 2: the key "id" stands twice'),
        ('{"data": NaN}', "line 2: NaN is not a JSON number"),
        ("5", "line 2: an event is an object"),
    ],
)
def test_a_bad_event_is_an_error_before_any_output(
    capsys: Capture, tmp_path: Path, line: object, words: str
) -> None:
    _complains(capsys, tmp_path, [SUBSCRIPTION], [EVENT, line], words)


def _complains(capsys: Capture, folder: Path, subscriptions: list[Any], events: list[Any], words: str) -> None:
    code = run(["match", "--subscriptions", written(folder / "subs.jsonl", subscriptions),
                "--events", written(folder / "events.jsonl", events)])  # fmt: skip
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert words in printed.err


def test_files_that_cannot_be_read(capsys: Capture, tmp_path: Path) -> None:
    events = written(tmp_path / "events.jsonl", [EVENT])
    for arguments in (
        ["--subscriptions", str(tmp_path), "--events", events],
        ["--subscriptions", events, "--events", "/nowhere/at/all"],
        ["--subscriptions", "-", "--events", "-"],
        ["--events", events],
    ):
        assert run(["match", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def accepts(filter: Filter, attributes: dict[str, Any]) -> bool:
    """A filter as the Subscriptions API has it, by recursion, with ``evaluate`` for expressions."""
    match filter:
        case AllOf(filters):
            return all(accepts(inner, attributes) for inner in filters)
        case AnyOf(filters):
            return any(accepts(inner, attributes) for inner in filters)
        case Not(inner):
            return not accepts(inner, attributes)
        case Sql(expression):
            result = evaluate(expression, attributes, strict=False)
            return result.error is None and result.value is True
        case Exact(wanted):
            return all(_text(attributes, name) == text for name, text in wanted.items())
        case Prefix(wanted):
            return all((_text(attributes, name) or "").startswith(text) for name, text in wanted.items())
        case Suffix(wanted):
            return all((_text(attributes, name) or "").endswith(text) for name, text in wanted.items())


def _text(attributes: dict[str, Any], name: str) -> str | None:
    value = attributes.get(name)
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


@pytest.mark.parametrize("seed", range(4))
def test_says_what_evaluate_says(capsys: Capture, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    subscriptions = [
        {"id": f"s{number}", "filters": [expressions.filters(rng, 3) for _ in range(rng.randrange(3))]}
        for number in range(300)
    ]
    events = [EVENT | {"id": str(number)} | _event(rng) for number in range(60)]
    answers = matched(capsys, tmp_path, subscriptions, events)
    filters = {one["id"]: read_filters(one["filters"], "") for one in subscriptions}
    for event, answer in zip(events, answers, strict=True):
        wanted = [id for id, each in filters.items() if all(accepts(filter, event) for filter in each)]
        assert answer == {"event": event["id"], "subscriptions": wanted}


def _event(rng: random.Random) -> dict[str, Any]:
    """Attributes that an event may have: no decimals outside of the payload."""
    return {name: value for name, value in expressions.attributes(rng).items() if not isinstance(value, float)}


def _command(folder: Path) -> list[str]:
    """One that has much to say."""
    subscriptions = [{"id": f"s{n}", "filters": [{"sql": f"level = {n} OR type = 'x{n}'"}]} for n in range(300)]
    events = (EVENT | {"id": str(number), "level": number % 500} for number in range(60_000))
    return [sys.executable, "-m", "polycast", "match",
            "--subscriptions", written(folder / "subs.jsonl", subscriptions),
            "--events", written(folder / "events.jsonl", events)]  # fmt: skip


def test_ctrl_c_leaves_whole_lines(tmp_path: Path) -> None:
    # Without a buffer, of which `communicate` would know nothing.
    with subprocess.Popen(
        _command(tmp_path), bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    lines = (first + rest).splitlines(keepends=True)
    assert process.returncode == 130
    assert 0 < len(lines) < 60_000
    assert all(line.endswith(b"\n") and json.loads(line) for line in lines)
