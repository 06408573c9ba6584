"""Conversions of what is in the store: remembered, many forms of one reading, several at a time."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from polycast.convert import registry, runner
from polycast.convert.memory import Made, Memory, Question
from polycast.convert.pool import Pool
from polycast.convert.store import HOUR, Collected, ContentStore
from polycast.convert.task import Limits
from polycast.errors import Cancelled, ConversionError
from polycast.model.format import Chain, ContentGraph, Format, Operator


class Stored(NamedTuple):
    """Content in one form, in the store, and what making it took; nothing, if it was remembered."""

    format: str
    digest: str
    size: int
    cpu_seconds: float
    remembered: bool


class Converter:
    """Converts contents of a store, by their digests.

    Parameters
    ----------
    workers
        Conversions at one time; by default one for each processor.
    limits
        What one run may take.
    """

    def __init__(
        self,
        store: ContentStore,
        workers: int | None = None,
        limits: Limits | None = None,
        pool: Pool | None = None,
    ) -> None:
        self.store = store
        self.limits = limits or Limits()
        self._memory = Memory(store)
        self._pool = pool or Pool(workers)
        self._threads = ThreadPoolExecutor(self._pool.workers, thread_name_prefix="convert")
        self._making = _Locks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let what runs end, and end the workers."""
        self._threads.shutdown(cancel_futures=True)
        self._pool.close()

    def convert(
        self,
        content: str,
        source: Format,
        target: Format,
        cancelled: threading.Event | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Stored:
        """Make one form of a content, unless it was made before."""
        (made,) = self.convert_many(content, source, [target], cancelled, progress)
        if isinstance(made, ConversionError):
            raise made
        return made

    def convert_many(
        self,
        content: str,
        source: Format,
        targets: Sequence[Format],
        cancelled: threading.Event | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> list[Stored | ConversionError]:
        """Make several forms of a content, read once where one tool makes them; an error stands for a failure."""
        questions = [Question(content, registry.find(source, target), source, target) for target in targets]
        done: dict[str, Stored | ConversionError] = {}
        for group in _by_entry(questions):
            done |= self._answer(group, cancelled, progress)
        return [done[question.key()] for question in questions]

    def make(
        self,
        content: str,
        graph: ContentGraph,
        chains: Iterable[Chain],
        cancelled: threading.Event | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> dict[str, Stored | ConversionError]:
        """Run several chains that begin with the same content, every operator once; all that was made, by form.

        What starts at the same form is made in one reading of it. Where an operator fails, so does what follows.
        """
        steps = _by_source(operator for chain in chains for operator in chain.operators)
        made: dict[str, Stored | ConversionError] = {}
        for number, (source, targets) in enumerate(steps.items()):
            before = made.get(source)
            if isinstance(before, ConversionError):
                made |= dict.fromkeys(targets, before)
                continue
            share = _part_of(progress, number, len(steps))
            forms = [graph[target] for target in targets]
            digest = before.digest if before else content
            made |= zip(targets, self.convert_many(digest, graph[source], forms, cancelled, share), strict=True)
        return made

    def submit(self, content: str, source: Format, target: Format) -> "Future[Stored]":
        """Like ``convert``, in the background."""
        return self._threads.submit(self.convert, content, source, target)

    def collect(
        self, keep: Collection[str] | None = None, most_bytes: int | None = None, spare: float = HOUR
    ) -> Collected:
        """Clear the store (see ``ContentStore.collect``) and forget the renditions that are gone with it."""
        collected = self.store.collect(keep, most_bytes, spare)
        self._memory.sweep()
        return collected

    def _answer(
        self,
        questions: list[Question],
        cancelled: threading.Event | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Stored | ConversionError]:
        with self._making.held({question.key() for question in questions}):
            done = {question.key(): self._recalled(question) for question in questions}
            open_ = list({question.key(): question for question in questions if not done[question.key()]}.values())
            try:
                made = self._make(open_, cancelled, progress) if open_ else {}
            except Cancelled:
                raise
            except ConversionError as error:
                made = self._one_by_one(open_, error, cancelled, progress)
        return {key: stored for key, stored in (done | made).items() if stored is not None}

    def _one_by_one(
        self,
        questions: list[Question],
        error: ConversionError,
        cancelled: threading.Event | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Stored | ConversionError | None]:
        """After a run that failed: only the forms that fail alone have failed."""
        if len(questions) == 1:
            return {questions[0].key(): error}
        made: dict[str, Stored | ConversionError | None] = {}
        for question in questions:
            try:
                made |= self._make([question], cancelled, progress)
            except Cancelled:
                raise
            except ConversionError as own:
                made[question.key()] = own
        return made

    def _recalled(self, question: Question) -> Stored | ConversionError | None:
        made = self._memory.recall(question)
        return None if made is None else Stored(question.target.name, made.digest, made.size, 0.0, True)

    def _make(
        self,
        questions: list[Question],
        cancelled: threading.Event | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Stored | ConversionError | None]:
        content, _, source, _ = questions[0]
        targets = [question.target for question in questions]
        with (
            self._pool.private_folder() as folder,
            self.store.local(content, folder) as file,
            runner.made(self._pool, source, targets, file, self.limits, cancelled, progress) as result,
        ):
            share = result.answer.cpu_seconds / len(questions)
            return {
                question.key(): self._keep(question, path, share)
                for question, path in zip(questions, result.paths, strict=True)
            }

    def _keep(self, question: Question, file: Path, cpu_seconds: float) -> Stored:
        size = file.stat().st_size
        digest = self.store.adopt(file)
        self._memory.remember(question, Made(digest, size, cpu_seconds))
        return Stored(question.target.name, digest, size, cpu_seconds, False)


def _by_entry(questions: Iterable[Question]) -> Iterator[list[Question]]:
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.tool.entry].append(question)
    yield from groups.values()


def _by_source(operators: Iterable[Operator]) -> dict[str, list[str]]:
    """What is to be made from every form, each form after the one that it is made from, and nothing twice."""
    steps: dict[str, list[str]] = {}
    for operator in dict.fromkeys(operators):
        steps.setdefault(operator.source, []).append(operator.target)
    return steps


def _part_of(progress: Callable[[float], None] | None, number: int, steps: int) -> Callable[[float], None] | None:
    """Tells of one step of several as a share of the whole."""
    return progress and (lambda share: progress((number + share) / steps))


class _Locks:
    """One lock to a rendition, so that two who ask for it at once wait for one run."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()

    @contextmanager
    def held(self, keys: set[str]) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._held & keys)
            self._held |= keys
        try:
            yield
        finally:
            with self._changed:
                self._held -= keys
                self._changed.notify_all()
