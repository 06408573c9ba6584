"""The whole journey, as a batch or as a stream of small ones."""

import fcntl
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
from pyspark.sql import DataFrame, SparkSession
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
    planned = files.transform(ingest, site).transform(match, site).transform(plan, site).persist()
    try:
        found = _glance(planned)
        sound = planned.where("error IS NULL")
        converted = (
            sound.transform(convert, site) if found.conversions else sound.transform(unconverted)
        ).persist()
        receipts = converted.transform(dispatch, site)
        learnt = learn(converted, receipts, site).agg(
            *(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in ("matched", "delivered", "failed"))
        )
        totals = learnt.collect()[0].asDict()
        if found.faulty:
            planned.where("error IS NOT NULL").transform(bury, site).count()
    finally:
        planned.unpersist()
    return Summary(found.publications, dead_letters=found.faulty, seconds=time.perf_counter() - start, **totals)


def run_once(spark: SparkSession, site: Site) -> Summary:
    """Deal with all that is in the inbox."""
    site.home.inbox.mkdir(parents=True, exist_ok=True)
    return journey(spark.read.format("binaryFile").options(**_FILES).load(str(site.home.inbox)), site)


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
    conversions = f.coalesce(f.sum(f.size(f.expr("filter(forms, one -> one.makers > 0)"))), f.lit(0))
    counts = (f.count("*"), f.count("error"), conversions)
    return _Glance(*planned.agg(*counts).collect()[0])


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
