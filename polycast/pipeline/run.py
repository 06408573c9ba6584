"""The whole journey, as a batch or as a stream of small ones."""

import fcntl
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from polycast.errors import BadInput
from polycast.home import Home
from polycast.pipeline import inbox
from polycast.pipeline.convert import convert, unconverted
from polycast.pipeline.deadletters import bury
from polycast.pipeline.dispatch import dispatch
from polycast.pipeline.ingest import ingest
from polycast.pipeline.learn import learn
from polycast.pipeline.match import match
from polycast.pipeline.plan import plan
from polycast.pipeline.site import Site

# Files of the inbox that vanish between two looks have been dealt with by a run that was killed.
_FILES = {"pathGlobFilter": inbox.EVENTS, "ignoreMissingFiles": "true"}
_COLUMNS = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
LOOK_EVERY = 0.1
MOST_FILES = 200
"""Publications to a batch: enough to be worth its overhead, few enough that none waits long."""


class Summary(msgspec.Struct, frozen=True):
    """What became of a batch."""

    publications: int
    matched: int
    delivered: int
    failed: int
    dead_letters: int
    seconds: float


def journey(files: DataFrame, site: Site) -> Summary:
    """Take the publications in some files of the inbox from ingest to delivery."""
    start = time.perf_counter()
    with _kept(files.transform(ingest, site).transform(match, site).transform(plan, site)) as planned:
        found = _glance(planned)
        sound = planned.where("error IS NULL")
        made = sound.transform(convert, site) if found.conversions else sound.transform(unconverted)
        with _kept(made) as converted:
            learnt = converted.transform(dispatch, site).transform(learn, converted, site)
            matched, delivered, failed = learnt.agg(*map(_total, ("matched", "delivered", "failed"))).collect()[0]
        if found.faulty:
            planned.where("error IS NOT NULL").transform(bury, site).count()
    seconds = time.perf_counter() - start
    return Summary(found.publications, matched, delivered, failed, found.faulty, seconds)


def run_once(spark: SparkSession, site: Site) -> Summary:
    """Deal with all that is in the inbox."""
    return journey(waiting(spark, site), site)


def waiting(spark: SparkSession, site: Site) -> DataFrame:
    """The files that are in the inbox now; what is in them is not read here."""
    site.home.inbox.mkdir(parents=True, exist_ok=True)
    return spark.read.format("binaryFile").options(**_FILES).load(str(site.home.inbox)).select("path")


def run_stream(spark: SparkSession, site: Site, on_batch: Callable[[Summary], None]) -> None:
    """Deal with whatever comes into the inbox, until Ctrl-C; the batch at hand is finished, unless asked again."""
    query = start_stream(spark, site, on_batch)
    try:
        with _interruption() as asked:
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
    site.home.inbox.mkdir(parents=True, exist_ok=True)
    files = (
        spark.readStream.format("binaryFile")
        .schema(_COLUMNS)
        .options(**_FILES, maxFilesPerTrigger=MOST_FILES)
        .load(str(site.home.inbox))
        .select("path")
    )

    def handle(batch: DataFrame, _: int) -> None:
        on_batch(journey(batch, site))

    return files.writeStream.foreachBatch(handle).option("checkpointLocation", str(site.home.checkpoint)).start()


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that is set by the first Ctrl-C; the second is as sudden as ever."""
    asked = threading.Event()

    def on_first(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, on_first)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


class _Glance(msgspec.Struct, frozen=True):
    publications: int
    faulty: int
    conversions: int


def _glance(planned: DataFrame) -> _Glance:
    """What the batch holds, so that stages with nothing to do are left out."""
    conversions = planned.withColumn("conversions", f.expr("size(filter(forms, one -> one.makers > 0))"))
    counts = (f.count("*"), f.count("error"), _total("conversions"))
    return _Glance(*conversions.agg(*counts).collect()[0])


def _total(column: str) -> Column:
    return f.coalesce(f.sum(column), f.lit(0))


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
