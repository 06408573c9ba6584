"""``polycast pipeline run`` as a user meets it: what goes wrong is one line, and everything stays where it was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from polycast.home import Home
from polycast.pipeline import inbox
from polycast.pipeline.run import alone
from polycast.pipeline.source import MOST_FILES
from tests.pipeline.conftest import NETWORK
from tests.pipeline.publications import note
from tests.pipeline.test_crash import wait_until


def command(home: Home, *options: str) -> list[str]:
    start = [sys.executable, "-m", "polycast", "pipeline", "run", "--home", str(home.root)]
    return [*start, "--network", str(NETWORK), *options]


def complaint(home: Home, *options: str) -> str:
    """What the command says when it fails as bad usage should: one line."""
    done = subprocess.run(command(home, *options), capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def test_a_master_that_there_is_not(home: Home) -> None:
    assert complaint(home, "--master", "nonsense").startswith('polycast: master "nonsense": not one of local[…], ')


def test_spark_that_does_not_start(home: Home) -> None:
    said = complaint(home, "--spark", "spark.driver.memory=lots")
    assert said.endswith(f"({home.log} says more)")
    assert "Invalid maximum heap size" in home.log.read_text()


def test_one_pipeline_at_a_time(home: Home) -> None:
    with alone(home):
        assert complaint(home, "--once") == f"polycast: {home.root}: another pipeline is at work on this home"


def test_a_home_that_cannot_be_one(home: Home) -> None:
    file = Home(home.root / "file")
    file.root.write_text("no folder")
    assert complaint(file) == f"polycast: {file.root}: File exists"


@pytest.mark.parametrize("options", [(), ("--once",)])
def test_the_end_of_java_is_told(home: Home, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Nothing is lost by it."""
    events = [inbox.put_event(home.inbox, note(str(number))) for number in range(200)]
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(command(home, *options), stderr=errors, stdout=subprocess.DEVNULL)
    wait_until(home.plans.exists, process)
    [java] = [child for child in psutil.Process(process.pid).children() if child.name() == "java"]
    java.kill()
    assert process.wait(100) == 3
    last = (tmp_path / "errors").read_text().splitlines()[-1]  # Spark's Python may have had a word before
    assert last == f"polycast: Spark's Java has ended ({home.log} says more)"
    assert any(event.exists() for event in events)


def test_a_second_ctrl_c_does_not_wait(home: Home, tmp_path: Path) -> None:
    """As a terminal sends it: to the whole process group."""
    for number in range(2 * MOST_FILES):
        inbox.put_event(home.inbox, note(str(number)))
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(
            command(home, "--once"), stderr=errors, stdout=subprocess.DEVNULL, start_new_session=True
        )
    wait_until(home.plans.exists, process)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
    assert process.wait(100) == 130
    assert len((tmp_path / "errors").read_text().splitlines()) <= 1
    assert len(inbox.waiting(home.inbox)) >= MOST_FILES
