"""The one place where a Spark session is made; everything else is given one."""

import itertools
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from polycast.errors import BadInput, PipelineStopped
from polycast.home import Home
from polycast.pipeline.java import java_environment

# All cores of this machine, and four attempts at a task: plain `local[*]` would give it only one.
LOCAL = "local[*, 4]"

_MASTER = re.compile(r"local(\[.*\])?|local-cluster\[.*\]|(spark|k8s)://.+|yarn")

# Java only plans small batches, and shares the processors with Python: let it take little for itself.
_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# What Spark says is wrong, and what there is to say when its Java has gone.
_FAULTS = (PySparkException, Py4JError, ConnectionError)

_RAISED = re.compile(r"(?:[\w.]*\.)?\w*(?:Error|Exception|Refused|Timeout|Stopped|BadInput): ")
_OURS = re.compile(r"polycast\.errors\.\w+: ")

_ALWAYS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}

# On one machine the batches are small: little to shuffle, nothing to show in a browser, nothing to remember.
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.pollingDelay": "20ms",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    "spark.sql.adaptive.enabled": "false",
    # A checkpoint's files without their sums: half as many, and for each Hadoop starts a process to set its mode.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}


def open_session(
    master: str = LOCAL, options: Mapping[str, str] | None = None, home: Home | None = None
) -> SparkSession:
    """Start Spark, or use the session that is running.

    Parameters
    ----------
    master
        Where the work is done: this machine, or any master that Spark knows.
    options
        Spark's own settings; they stand before ours.
    home
        Where Spark's own messages and passing files go; without one the messages are dropped.
    """
    if not _MASTER.fullmatch(master):
        raise BadInput(f'master "{master}"', "not one of local[…], spark://…, k8s://… and yarn")
    logging.getLogger("py4j").addHandler(logging.NullHandler())  # what breaks off comes as an exception, too
    os.environ.update(java_environment(os.environ))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = _ALWAYS | (_LOCAL if master.startswith("local") else {}) | _housed(home) | dict(options or {})
    builder = SparkSession.builder.master(master).appName("polycast")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with _complaining_to(home.log if home else Path(os.devnull)):
            return builder.getOrCreate()
    except _FAULTS as error:
        more = f" ({home.log} says more)" if home else ""
        raise BadInput(f'master "{master}"', f"{_reason(error)}{more}") from None


@contextmanager
def _complaining_to(log: Path) -> Iterator[None]:
    """What is started meanwhile writes its errors into a file: Java has much to say, and nothing for a user."""
    sys.stderr.flush()
    terminal = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


@contextmanager
def running_session(master: str, options: Mapping[str, str], home: Home) -> Iterator[SparkSession]:
    """Spark for as long as it is needed. What it raises is one line of ours that names the log."""
    session = open_session(master, options, home)
    try:
        with faults_in_words(f" ({home.log} says more)"):
            yield session
    finally:
        with suppress(*_FAULTS):  # of a Java that is no more
            session.stop()


@contextmanager
def faults_in_words(and_more: str = "") -> Iterator[None]:
    """What Spark raises, as one line of ours."""
    try:
        yield
    except _FAULTS as error:
        if _began_with(error, KeyboardInterrupt):  # after which Spark cannot be spoken to
            raise KeyboardInterrupt from None
        raise PipelineStopped(f"{_reason(error)}{and_more}") from None


def _began_with(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error came about while one of another kind was on its way."""
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None


def _reason(error: Exception) -> str:
    """The line that tells: the last of a worker's own error, else the first of Java's."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return "Spark's Java has ended"
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    telling = raised[-1] if raised else next(iter(lines), type(error).__name__)
    return _OURS.sub("", telling, count=1)[:300]


def _housed(home: Home | None) -> dict[str, str]:
    properties = {"log4j2.configurationFile": Path(__file__).with_name("log4j2.properties").as_uri()}
    if home is not None:
        home.log.parent.mkdir(parents=True, exist_ok=True)
        properties["polycast.log"] = str(home.log)
    if home is not None and "," not in str(home.scratch):  # Spark would read several folders
        shutil.rmtree(home.scratch, ignore_errors=True)  # left by a run that was killed
        home.scratch.mkdir(exist_ok=True)
        properties["java.io.tmpdir"] = str(home.scratch)
    options = (*_JAVA, *itertools.starmap(_property, properties.items()))
    return {"spark.driver.extraJavaOptions": " ".join(options)}


def _property(name: str, value: str) -> str:
    """A property of Java, quoted as Spark reads it: there may be blanks in a path."""
    quoted = value.replace("\\", r"\\").replace('"', r"\"")
    return f'"-D{name}={quoted}"'
