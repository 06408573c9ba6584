"""The whole journey, as a batch or as a stream of small ones."""

import fcntl
import operator
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from polycast.errors import BadInput
from polycast.home import Home
from polycast.pipeline import inbox
from polycast.pipeline.convert import convert, unconverted
from polycast.pipeline.deadletters import bury
from polycast.pipeline.dispatch import dispatch
from polycast.pipeline.ingest import ingest, table_of
from polycast.pipeline.learn import learn
from polycast.pipeline.match import match, one_of_each
from polycast.pipeline.plan import plan
from polycast.pipeline.session import faults_in_words
from polycast.pipeline.site import Site
from polycast.pipeline.source import MOST_FILES, InboxSource

LOOK_EVERY = 0.1


class Summary(msgspec.Struct, frozen=True):
    """What became of a batch."""

    publications: int
    matched: int
    delivered: int
    failed: int
    dead_letters: int
    seconds: float

    def __add__(self, other: "Summary") -> "Summary":
        """What became of two batches."""
        return Summary(*map(operator.add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


NOTHING = Summary(0, 0, 0, 0, 0, 0.0)


def journey(spark: SparkSession, files: Sequence[Path | str], site: Site) -> Summary:
    """Take the publications in some files of the inbox from ingest to delivery."""
    start = time.perf_counter()
    _spread(spark, len(files), site)
    wanted = table_of(spark, files).transform(ingest, site).transform(match, site)
    distinct = wanted.transform(one_of_each) if len(files) > 1 else wanted
    with _kept(distinct.transform(plan, site)) as planned:
        found = _glance(planned)
        _spread(spark, found.publications + found.conversions, site)
        with _made(planned.where("error IS NULL"), found, site) as converted:
            learnt = converted.transform(dispatch, site).transform(learn, converted, site)
            matched, delivered, failed = _totals(learnt.select("matched", "delivered", "failed"))
        if found.faulty:
            planned.where("error IS NOT NULL").transform(bury, site).count()
    seconds = time.perf_counter() - start
    return Summary(found.publications, matched, delivered, failed, found.faulty, seconds)


def run_once(
    spark: SparkSession,
    site: Site,
    on_progress: Callable[[int, int], None] = lambda *_: None,
    is_enough: Callable[[], bool] = lambda: False,
) -> Summary:
    """Deal with all that is in the inbox now, the oldest first.

    Parameters
    ----------
    on_progress
        Is told before each batch how many files have been dealt with, and how many there are.
    is_enough
        Asked before each batch whether to leave the rest where it is.
    """
    files = inbox.waiting(site.home.inbox)
    whole = NOTHING
    for start in range(0, len(files), MOST_FILES):
        if is_enough():
            break
        on_progress(start, len(files))
        whole += journey(spark, files[start : start + MOST_FILES], site)
    return whole


def run_stream(spark: SparkSession, site: Site, on_batch: Callable[[Summary], None]) -> None:
    """Deal with whatever comes into the inbox, until Ctrl-C; the batch at hand is finished, unless asked again."""
    query = start_stream(spark, site, on_batch)
    try:
        with interruption() as asked:
            while not asked.wait(LOOK_EVERY) and query.isActive:
                pass
            while query.isActive and query.status["isTriggerActive"]:
                time.sleep(LOOK_EVERY)
    finally:
        query.stop()
    if failure := query.exception():
        raise failure


def start_stream(
    spark: SparkSession, site: Site, on_batch: Callable[[Summary], None] = lambda _: None
) -> StreamingQuery:
    """Deal with whatever comes into the inbox, until the query is stopped."""
    _clear_if_torn(site.home.checkpoint)
    spark.dataSource.register(InboxSource)
    files = spark.readStream.format(InboxSource.name()).load(str(site.home.inbox))

    def handle(batch: DataFrame, _: int) -> None:
        with faults_in_words():  # Java runs out of stack when it takes Spark's own long message apart
            on_batch(journey(spark, [row.file for row in batch.collect()], site))

    return files.writeStream.foreachBatch(handle).option("checkpointLocation", str(site.home.checkpoint)).start()


def _clear_if_torn(checkpoint: Path) -> None:
    """A power cut may leave files that Spark refuses. Without a checkpoint, the inbox says what is to be done."""
    try:
        for file in (*checkpoint.glob("metadata"), *checkpoint.glob("[oc]*s/[0-9]*")):
            msgspec.json.decode(file.read_bytes().rpartition(b"\n")[-1])
    except msgspec.DecodeError:
        shutil.rmtree(checkpoint)


@contextmanager
def interruption() -> Iterator[threading.Event]:
    """An event that is set when we are asked to stop, by Ctrl-C or the system; a second Ctrl-C does not wait."""
    asked = threading.Event()

    def on_first(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, on_first) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _spread(spark: SparkSession, rows: int, site: Site) -> None:
    """Let so many rows be worked on by no more tasks than they need: a task costs more than a small row."""
    spark.conf.set("spark.sql.shuffle.partitions", max(1, min(rows, site.tasks)))


class _Glance(msgspec.Struct, frozen=True):
    publications: int
    faulty: int
    conversions: int


def _glance(planned: DataFrame) -> _Glance:
    """What the batch holds, so that stages with nothing to do are left out."""
    conversions = "size(filter(forms, one -> one.makers > 0)) AS conversions"
    counts = ("1 AS publications", "int(error IS NOT NULL) AS faulty", conversions)
    return _Glance(*_totals(planned.selectExpr(*counts)))


def _totals(numbers: DataFrame) -> list[int]:
    """The sum of each column. The rows of a batch are few: to add them up here spares a shuffle."""
    rows = numbers.collect()
    return [sum(row[column] or 0 for row in rows) for column in numbers.columns]


def _made(sound: DataFrame, found: _Glance, site: Site) -> AbstractContextManager[DataFrame]:
    """The publications with what was made of each, if anything is to be made at all."""
    return (
        _kept(sound.transform(convert, site)) if found.conversions else nullcontext(sound.transform(unconverted))
    )


@contextmanager
def _kept(table: DataFrame) -> Iterator[DataFrame]:
    """A table that is computed once, though it is looked at more than once."""
    kept = table.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Only one pipeline at a time works on a home."""
    home.root.mkdir(parents=True, exist_ok=True)
    with (home.root / "pipeline.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(str(home.root), "another pipeline is at work on this home") from None
        yield
