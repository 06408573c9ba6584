"""The one place where a Spark session is made; everything else is given one."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from polycast.errors import BadInput, PipelineStopped
from polycast.pipeline.java import java_environment

# All cores of this machine, and four attempts at a task: plain `local[*]` would give it only one.
LOCAL = "local[*, 4]"

_RAISED = re.compile(r"(?:[\w.]*\.)?\w*(?:Error|Exception|Refused|Timeout): ")

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
}


def open_session(
    master: str = LOCAL, options: Mapping[str, str] | None = None, log: Path | None = None
) -> SparkSession:
    """Start Spark, or use the session that is running.

    Parameters
    ----------
    master
        Where the work is done: this machine, or any master that Spark knows.
    options
        Spark's own settings; they stand before ours.
    log
        The file for Spark's own messages; without one they are dropped.
    """
    os.environ.update(java_environment(os.environ))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = _ALWAYS | (_LOCAL if master.startswith("local") else {}) | _quiet(log) | dict(options or {})
    builder = SparkSession.builder.master(master).appName("polycast")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise BadInput(f'master "{master}"', _reason(error)) from None


@contextmanager
def faults_in_words(log: Path) -> Iterator[None]:
    """What Spark raises, as one line of ours that names the log."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise PipelineStopped(f"{_reason(error)} ({log} says more)") from None


def _reason(error: Exception) -> str:
    """The line that tells: the last of a worker's own error, else the first of Java's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0][:300]


def _quiet(log: Path | None) -> dict[str, str]:
    configuration = Path(__file__).with_name("log4j2.properties")
    java_options = f"-Dlog4j2.configurationFile={configuration.as_uri()}"
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        java_options += f" -Dpolycast.log={log}"
    return {"spark.driver.extraJavaOptions": java_options}
