"""The pipeline on one machine: from file to mailbox, through ingest, and what many batches do to memory.

python -m benchmarks.bench_pipeline [--long]
"""

import base64
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from pyspark.sql import SparkSession

from benchmarks.table import Report, seconds
from polycast import networks
from polycast.home import Home
from polycast.model.codec import encode
from polycast.model.publication import Event
from polycast.pipeline import inbox, mailbox
from polycast.pipeline.ingest import ingest, table_of
from polycast.pipeline.run import Summary, start_stream
from polycast.pipeline.session import open_session
from polycast.pipeline.site import Site, open_site

NETWORK = Path(__file__).parents[1] / "examples" / "network.toml"
CONTENTS, CONTENT = 1000, 1_000_000
WARM, MEASURED = 20, 40
BATCHES, LONG = 200, 1000
FLAT = 0.1


def note(number: int) -> Event:
    """A few words that reach those who take anything, as they are."""
    attributes = {"id": str(number), "source": "/bench", "specversion": "1.0", "type": "org.example.note"}
    return Event(attributes | {"datacontenttype": "application/x-note"}, "The road is open.")


@contextmanager
def fresh(spark: SparkSession) -> Iterator[Site]:
    """A home of its own, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield open_site(spark, Home(Path(folder)), networks.load(NETWORK))


def one_by_one(spark: SparkSession, site: Site, count: int, after: Callable[[int], None]) -> list[float]:
    """Publish so many notes to a running stream, each when the one before is settled; seconds to the mailbox."""
    batches: list[Summary] = []
    stream = start_stream(spark, site, batches.append)
    taken = []
    for number in range(count):
        start = time.perf_counter()
        event = inbox.read(inbox.put_event(site.home.inbox, note(number)))
        while not any(site.home.mailbox("archive").glob(f"{event.key}.*{mailbox.NOTE}")):
            time.sleep(0.002)
        taken.append(time.perf_counter() - start)
        while len(batches) <= number:
            time.sleep(0.002)
        after(number)
    stream.stop()
    return taken


def latency(report: Report, spark: SparkSession) -> None:
    with fresh(spark) as site:
        taken = one_by_one(spark, site, WARM + MEASURED, lambda _: None)[WARM:]
    note = f"(quickest {min(taken):.2f} s, p90 {statistics.quantiles(taken, n=10)[-1]:.2f} s)"
    report.add_time("file to mailbox, one small publication, p50", 0.6, statistics.median(taken), note)


def throughput(report: Report, spark: SparkSession, inside: bool) -> None:
    """Contents that nobody has seen before, through ingest, beside their events or inside them."""
    with fresh(spark) as site:
        _fill(site.home.inbox, inside)
        table = table_of(spark, inbox.waiting(site.home.inbox)).transform(ingest, site)

        def work() -> None:
            shutil.rmtree(site.home.content, ignore_errors=True)
            assert table.where("error IS NULL").count() == CONTENTS

        rate = CONTENTS * CONTENT / 1e6 / seconds(work, repeat=2)
    where = "inside the events" if inside else "beside the events"
    report.add(f"ingest, {CONTENTS:,} of 1 MB {where}", ">= 100 MB/s", f"{rate:,.0f} MB/s", rate >= 100)


def _fill(folder: Path, inside: bool) -> None:
    (folder / inbox.CONTENT).mkdir(parents=True)
    for number in range(CONTENTS):
        content = os.urandom(CONTENT)
        attributes = {"id": str(number), "source": "/bench", "specversion": "1.0", "type": "org.example.bytes"}
        if inside:
            attributes["data_base64"] = base64.b64encode(content).decode()
        else:
            attributes["dataref"] = f"{inbox.CONTENT}/{number}"
            (folder / attributes["dataref"]).write_bytes(content)
        (folder / f"{number}.json").write_bytes(encode(attributes))


def memory(report: Report, spark: SparkSession, batches: int) -> None:
    """What the driver's two processes and the workers hold, after a fifth of the batches and at the end."""
    looks: dict[int, dict[str, float]] = {}

    def look(number: int) -> None:
        if number in (batches // 5, batches - 1):
            looks[number] = _held(spark)

    with fresh(spark) as site:
        one_by_one(spark, site, batches, look)
    before, after = looks.values()
    for what in before:
        growth = after[what] / before[what] - 1
        figures = f"{before[what]:,.0f} → {after[what]:,.0f} MB ({growth:+.1%})"
        report.add(f"{what}, batch {batches // 5} → {batches}", f"<= +{FLAT:.0%}", figures, growth <= FLAT)


def _held(spark: SparkSession) -> dict[str, float]:
    """Megabytes. Of Java, what is alive after a collection: how much more it takes is for its settings to say."""
    assert spark.sparkContext._jvm is not None
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()
    for _ in range(2):
        runtime.gc()
    here = psutil.Process()
    return {
        "driver, Java heap": (runtime.totalMemory() - runtime.freeMemory()) / 1e6,
        "driver, Python": here.memory_info().rss / 1e6,
        "workers, Python": sum(map(_of_python, here.children(recursive=True))) / 1e6,
    }


def _of_python(process: psutil.Process) -> int:
    """The memory of a process of Python; some of Spark's end while we look."""
    try:
        return int(process.memory_info().rss) if "python" in process.name() else 0
    except psutil.NoSuchProcess:
        return 0


def main() -> None:
    report = Report("Pipeline")
    spark = open_session()
    latency(report, spark)
    throughput(report, spark, inside=False)
    throughput(report, spark, inside=True)
    memory(report, spark, LONG if "--long" in sys.argv else BATCHES)
    spark.stop()
    report.show()


if __name__ == "__main__":
    main()
