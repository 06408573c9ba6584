"""The match index at a million subscriptions, and one expression at a time. Times are of the processor."""

import gc
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.table import Report, readable, seconds
from polycast.interest.cesql import Expression, Program, parse
from polycast.interest.index import MatchIndex
from polycast.interest.index.warm import warm

COUNT = int(os.environ.get("POLYCAST_BENCH_SUBSCRIPTIONS", "1000000"))
EVENTS = 500
CHANGES = 20_000
ASKED = 20_000  # subscriptions of which each answer is compared with the evaluator's

CATEGORIES = {f"c{i}": size for i, size in enumerate((5, 8, 10, 20, 5, 8, 10, 20))}
NUMBERS = [f"n{i}" for i in range(8)]
TEXTS = [f"t{i}" for i in range(4)]
ATTRIBUTES = [*CATEGORIES, *NUMBERS, *TEXTS]


def main() -> None:
    warm()
    report = Report(f"The match index: {COUNT:,} subscriptions (one core, warm)")
    _evaluation(report)
    _index(report, "conjunctions", _conjunction, 0.2e-3, 300)
    _index(report, "arbitrary expressions", _arbitrary, 1e-3, 500)
    report.show()


def _evaluation(report: Report) -> None:
    program = Program(
        parse(
            "type = 'org.example.alert' AND severity >= 3 AND source LIKE '/a/%' AND region IN ('n', 's')", False
        )
    )
    event = {"type": "org.example.alert", "severity": 5, "source": "/a/b", "region": "s"}
    assert program.evaluate(event) == (True, None)
    taken = seconds(lambda: [program.evaluate(event) for _ in range(10_000)]) / 10_000
    report.add_time("evaluate an expression of four predicates", 3e-6, taken)


def _index(
    report: Report, name: str, wish: Callable[[random.Random], str], per_event: float, megabytes: int
) -> None:
    rng = random.Random(1)
    source = _Clocked(wish, rng)
    start = time.process_time()
    index = MatchIndex.of(source)
    built = time.process_time() - start - source.writing - source.parsing
    _building(report, name, built, source.parsing, has_goals=wish is _conjunction)
    events = [_event(rng) for _ in range(EVENTS)]
    _matching(report, name, index, events, per_event)
    _compared(source, index, events)
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder))
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        report.add(f"{name}: memory", f"<= {megabytes} MB", f"{size:.0f} MB", size <= megabytes)
        opened = seconds(lambda: MatchIndex.open(Path(folder)))
        report.add_time(f"{name}: open a saved index", 50e-3, opened)
        _changes(report, name, MatchIndex.open(Path(folder)), [parse(wish(rng), False) for _ in range(CHANGES)])


def _building(report: Report, name: str, built: float, parsing: float, has_goals: bool) -> None:
    parsed, text = f"{name}: build from parsed filters", f"{name}: from text, on one core"
    if has_goals:
        report.add_time(parsed, 20, built)
        report.add_time(f"{text} (the goal is on two)", 120, built + parsing)
    else:
        report.add(parsed, "", readable(built), None)
        report.add(text, "", readable(built + parsing), None)


def _matching(report: Report, name: str, index: MatchIndex, events: list[dict[str, Any]], goal: float) -> None:
    for event in events[:50]:
        index.match(event)
    start = time.process_time()
    found = [len(index.match(event)) for event in events]
    taken = (time.process_time() - start) / len(events)
    mean = sum(found) / len(found)
    report.add_time(f"{name}: match an event", goal, taken, f"({mean:,.0f} matches, {mean / COUNT:.2%})")


def _compared(source: "_Clocked", index: MatchIndex, events: list[dict[str, Any]]) -> None:
    """The answer is the evaluator's for the first subscriptions, or there is no figure."""
    programs = {name: Program(expression) for name, expression in source.first}
    for event in events[:5]:
        found = [name for name in index.match(event) if name in programs]
        assert found == [name for name, program in programs.items() if program.accepts(event)]


def _changes(report: Report, name: str, index: MatchIndex, wishes: list[Expression]) -> None:
    start = time.process_time()
    for i, wish in enumerate(wishes):
        index.add(f"new {i}", wish)
    taken = (time.process_time() - start) / len(wishes)
    report.add_time(f"{name}: add one ({len(wishes):,} in turn)", 50e-6, taken)
    start = time.process_time()
    for i in range(len(wishes)):
        index.remove(f"s{37 * i % COUNT}" if 37 * len(wishes) < COUNT else f"new {i}")
    taken = (time.process_time() - start) / len(wishes)
    report.add_time(f"{name}: remove one ({len(wishes):,} in turn)", 50e-6, taken)


class _Clocked:
    """Subscriptions one by one, and how long it took to write and to parse them."""

    def __init__(self, wish: Callable[[random.Random], str], rng: random.Random) -> None:
        self.wish = wish
        self.rng = rng
        self.writing = self.parsing = 0.0
        self.first: list[tuple[str, Expression]] = []

    def __iter__(self) -> Iterator[tuple[str, Expression]]:
        for start in range(0, COUNT, 1 << 14):
            yield from self._batch(range(start, min(start + (1 << 14), COUNT)))

    def _batch(self, numbers: Iterable[int]) -> list[tuple[str, Expression]]:
        begun = time.process_time()
        texts = [(f"s{i}", self.wish(self.rng)) for i in numbers]
        written = time.process_time()
        parsed = [(name, parse(text, strict=False)) for name, text in texts]
        self.writing += written - begun
        self.parsing += time.process_time() - written
        if len(self.first) < ASKED:
            self.first += parsed
        return parsed


def _conjunction(rng: random.Random) -> str:
    """Three to seven predicates, each on another of the attributes."""
    return " AND ".join(_predicate(rng, name) for name in rng.sample(ATTRIBUTES, rng.randrange(3, 8)))


def _predicate(rng: random.Random, name: str) -> str:
    if name in CATEGORIES:
        return f"{name} = 'v{rng.randrange(CATEGORIES[name])}'"
    if name in TEXTS:
        return f"{name} LIKE '/{rng.choice('abcdefgh')}/{rng.choice(('x%', 'y%', 'z%', '%', '%', '%'))}'"
    middle, kind = rng.random() * 100, rng.random()
    if kind < 0.3:
        return f"{name} >= {middle:.9f}"
    if kind < 0.6:
        return f"{name} < {middle:.9f}"
    half = rng.random() * 25
    return f"{name} >= {max(middle - half, 0):.9f} AND {name} < {middle + half:.9f}"


def _arbitrary(rng: random.Random) -> str:
    """Nested AND, OR and NOT over predicates of all kinds; as a whole about as selective as subscriptions are."""
    branches = rng.randrange(1, 4)
    return " OR ".join(f"({_branch(rng)})" for _ in range(branches))


def _branch(rng: random.Random) -> str:
    """Four to six predicates, at least one of them on a category, and at times a choice."""
    category = rng.choice(list(CATEGORIES))
    others = [name for name in ATTRIBUTES if name != category]
    names = [category, *rng.sample(others, rng.choice((3, 4, 5, 5)))]
    parts = [_predicate(rng, name) for name in names[:-1]]
    parts.append(_odd(rng, names[-1]))
    if rng.random() < 0.5:
        left, right = rng.sample(ATTRIBUTES, 2)
        parts.append(f"({_predicate(rng, left)} OR NOT ({_odd(rng, right)}))")
    rng.shuffle(parts)
    return " AND ".join(parts)


def _odd(rng: random.Random, name: str) -> str:
    """What is neither an equality, nor a range, nor a prefix."""
    if name in CATEGORIES:
        size = CATEGORIES[name]
        values = ", ".join(f"'v{rng.randrange(size)}'" for _ in range(rng.randrange(2, 4)))
        return rng.choice(
            (f"{name} IN ({values})", f"UPPER({name}) = 'V{rng.randrange(size)}'", f"{name} != 'v1'")
        )
    if name in TEXTS:
        digits = rng.randrange(100)
        return rng.choice(
            (f"{name} LIKE '%/{digits}%'", f"LENGTH({name}) > {rng.randrange(6, 9)}", f"EXISTS {name}")
        )
    return rng.choice((f"ABS({name}) > {rng.random() * 100:.4f}", f"{name} * 2 < {rng.random() * 200:.4f}"))


def _event(rng: random.Random) -> dict[str, Any]:
    """Nearly all of the attributes."""
    event: dict[str, Any] = {name: f"v{rng.randrange(size)}" for name, size in CATEGORIES.items()}
    event |= {name: rng.random() * 100 for name in NUMBERS}
    for name in TEXTS:
        event[name] = f"/{rng.choice('abcdefgh')}/{rng.choice('xyz')}/{rng.randrange(1000)}"
    return event


if __name__ == "__main__":
    gc.disable()  # a million parsed expressions hold no circles
    main()
