"""The language of interest on one core: evaluating, reading, the other filters, regions, and negotiation.

The match index has a benchmark of its own.
"""

import json
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from benchmarks.table import Report, readable, seconds, side_by_side
from polycast.interest.cesql import Expression, Program, evaluate, parse, program
from polycast.interest.dialects import attributes_of, expression, subscription_expression
from polycast.interest.document import read_subscriptions
from polycast.interest.negotiation import negotiate
from polycast.interest.region import region
from polycast.model.cloudevents import read_event
from polycast.model.format import Format
from polycast.model.profile import Profile
from polycast.model.subscription import read_filters, read_subscription

T = TypeVar("T")

RUNS, REPEAT = 1000, 100  # the least of many short runs: one of them meets no neighbour
TEXTS, READINGS = 200, 30
MILLION = 1_000_000

DOCUMENT: dict[str, Any] = {
    "specversion": "1.0", "id": "17", "source": "/county/fire", "type": "map.flood.warning", "region": "ca",
    "level": 4, "time": "2026-03-01T12:00:00Z", "urgent": True, "hop": "5", "ttl": "10", "price": "33.5",
    "data": {"location": {"lat": 34.1, "lon": -118.2}, "tags": ["wind", "fire"]},
}  # fmt: skip
EVENT = attributes_of(read_event(DOCUMENT, "event"))

Test = Callable[[Mapping[str, Any]], bool]

# Each beside what a programmer would write for this one event, without casts and errors.
TYPICAL: dict[str, Test] = {
    "type = 'map.flood.warning'": lambda event: event["type"] == "map.flood.warning",
    "type LIKE 'map.%' AND level > 3": lambda event: event["type"].startswith("map.") and event["level"] > 3,
    "EXISTS subject OR region IN ('us', 'ca', 'mx')": lambda event: (
        "subject" in event or event["region"] in ("us", "ca", "mx")
    ),
    "hop < ttl AND INT(hop) < 1000": lambda event: (
        int(event["hop"]) < int(event["ttl"]) and int(event["hop"]) < 1000
    ),
    "level * 2 + 1 > 8 AND NOT (region = 'us')": lambda event: (
        event["level"] * 2 + 1 > 8 and event["region"] != "us"
    ),
    "UPPER(LEFT(type, 3)) = 'MAP'": lambda event: event["type"][:3].upper() == "MAP",
    "type LIKE 'map.%' AND region = 'ca' AND level >= 2 AND level <= 6 AND urgent": lambda event: (
        event["type"].startswith("map.") and event["region"] == "ca"
        and 2 <= event["level"] <= 6 and event["urgent"]
    ),
    "type LIKE '%.flood.%' AND (region = 'us' OR region = 'mx' OR level > 3)": lambda event: (
        ".flood." in event["type"] and (event["region"] == "us" or event["region"] == "mx" or event["level"] > 3)
    ),
    "price > 30.5 AND data.location.lat > 33.5": lambda event: (
        float(event["price"]) > 30.5 and event["data"]["location"]["lat"] > 33.5
    ),
    "time > '2026-01-01T00:00:00Z' AND region < 'd'": lambda event: (
        event["time"] > "2026-01-01T00:00:00Z" and event["region"] < "d"
    ),
}  # fmt: skip

FILTERS = [
    {"prefix": {"type": "map."}},
    {"any": [{"exact": {"region": "ca"}}, {"not": {"suffix": {"type": "warning"}}}]},
]


def main() -> None:
    report = Report("Interest: the language (one core, warm)")
    _evaluating(report)
    _filtering(report)
    _reading(report)
    _negotiating(report)
    report.show()


def _evaluating(report: Report) -> None:
    spent = []
    for text, by_hand in TYPICAL.items():
        ready = program(text, strict=False)
        assert ready.evaluate(EVENT) == (True, None)
        prepared, plain = partial(ready.evaluate, EVENT), partial(by_hand, EVENT)
        ours, theirs = side_by_side(_often(prepared), _often(plain), REPEAT)
        spent.append(ours / RUNS)
        report.add_time(f"evaluate {text}", 3e-6, spent[-1], f"({ours / theirs:.1f} times code written by hand)")
    report.add_time("evaluate, mean of these", 3e-6, sum(spent) / len(spent))
    given: dict[str, list[Any]] = {
        "what `parse` made": list(map(_parsed, TYPICAL)),
        "the texts again": list(TYPICAL),
    }
    for how, expressions in given.items():
        taken = _mean(lambda one: _often(partial(evaluate, one, EVENT, strict=False))(), expressions) / RUNS
        report.add_time(f"evaluate, given {how}, mean of these", 3e-6, taken)
    missing = program("missing = 5", strict=False)
    taken = seconds(_often(lambda: missing.evaluate(EVENT)), REPEAT) / RUNS
    report.add_time("evaluate missing = 5, an error", 3e-6, taken)


def _filtering(report: Report) -> None:
    ready = Program(expression(read_filters(FILTERS, "filters")))
    assert ready.accepts(EVENT)
    report.add("filters: prefix, and any of exact and not suffix", "", _each(lambda: ready.accepts(EVENT)), None)
    report.add(
        "an event of 11 attributes read and checked", "", _each(lambda: read_event(DOCUMENT, "event"), 20), None
    )


def _reading(report: Report) -> None:
    rng = random.Random(1)
    texts = [conjunction(rng) for _ in range(TEXTS)]
    report.add("parsing a conjunction of 3 to 7 predicates", "", readable(_mean(_parsed, texts)), None)
    lines = [json.dumps({"id": str(i), "filters": [{"sql": text}]}).encode() for i, text in enumerate(texts)]
    whole = _mean(lambda line: list(read_subscriptions([line], "lines")), lines)
    report.add_time("a million subscriptions from JSON lines to filters", 120.0, whole * MILLION, "extrapolated")
    parsed = [_parsed(text) for text in texts]
    report.add("compiling one to closures", "", readable(_mean(Program, parsed)), None)
    report.add("the region of one", "", readable(_mean(region, parsed)), None)
    document = {"id": "s", "filters": FILTERS}
    dialects = _each(lambda: subscription_expression(read_subscription(document, "subscription")), 20)
    report.add("reading the filters above", "", dialects, None)


def _parsed(text: str) -> Expression:
    return parse(text, strict=False)


def _mean(work: Callable[[T], object], pieces: list[T]) -> float:
    """The least time that each piece took, over all of them."""
    return sum(seconds(partial(work, piece), READINGS) for piece in pieces) / len(pieces)


def conjunction(rng: random.Random) -> str:
    """Three to seven predicates over twenty attributes: equality, range, prefix."""
    return " AND ".join(_predicate(rng, name) for name in rng.sample(range(20), rng.randrange(3, 8)))


def _predicate(rng: random.Random, name: int) -> str:
    number = rng.randrange(1000)
    return rng.choice((
        f"a{name} = 'v{number}'", f"a{name} >= {number} AND a{name} <= {number + 50}", f"a{name} LIKE 'p{number}%'"
    ))  # fmt: skip


def _negotiating(report: Report) -> None:
    forms = [
        Format(name=f"{kind}-{width}", size=width / 100, media_type=kind, width=width, quality=width / 1920)
        for kind in ('video/mp4; codecs="avc1.64001F, mp4a.40.2"', "image/webp", "image/png", "application/pdf")
        for width in (320, 640, 1080, 1280, 1920)
    ]
    phone = Profile(accept='video/mp4; codecs="avc1, mp4a", image/webp;q=0.8, image/*;q=0.5', max_width=1280)
    assert len(negotiate(phone, forms).alternatives) == 12
    report.add("negotiating 20 forms, 12 of them acceptable", "", _each(lambda: negotiate(phone, forms), 20), None)


def _often(work: Callable[[], object], runs: int = RUNS) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(runs):
            work()

    return repeated


def _each(work: Callable[[], object], share: int = 1) -> str:
    runs = RUNS // share
    return readable(seconds(_often(work, runs), REPEAT) / runs)


if __name__ == "__main__":
    main()
