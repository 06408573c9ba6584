"""Killed at whatever moment, the pipeline carries on: nothing is lost, and nothing delivered twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from polycast.home import Home
from polycast.pipeline import inbox, mailbox
from tests.pipeline.conftest import NETWORK
from tests.pipeline.publications import delivered, note, stray_files

COUNT = 120
BATCH = 40


def test_killed_in_the_middle_and_started_again(home: Home, tmp_path: Path) -> None:
    for number in range(COUNT):
        inbox.put_event(home.inbox, note(f"n{number}"))
    first = start(home, tmp_path)
    wait_until(lambda: len(list(home.mailboxes.glob("archive/*"))) > 10, first)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = {path: path.stat().st_mtime_ns for path in home.mailboxes.glob(f"*/*{mailbox.NOTE}")}
    assert any(home.inbox.glob("*.json")), "killed before all was done"

    second = start(home, tmp_path)
    wait_until(lambda: not any(home.inbox.glob("*.json")), second)
    second.send_signal(signal.SIGINT)
    assert second.wait(60) == 130
    assert ids(home) == {f"n{number}" for number in range(COUNT)}
    assert len(delivered(home)) == COUNT * receivers(home)
    assert stray_files(home) == []
    assert not home.dead_letters.exists()
    assert not any(home.scratch.glob("blockmgr-*")), "what the first has left is cleared away"
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items()), "delivered twice"


def start(home: Home, folder: Path) -> subprocess.Popen[bytes]:
    """The pipeline as a user starts it, in a process group of its own."""
    command = [sys.executable, "-m", "polycast", "pipeline", "run", "--home", str(home.root)]
    options = ("--network", str(NETWORK), "--master", "local[1, 4]", "--spark", "spark.sql.shuffle.partitions=1")
    with (folder / "output").open("ab") as output:
        return subprocess.Popen([*command, *options], stdout=output, stderr=output, start_new_session=True)


def wait_until(true: Callable[[], bool], process: subprocess.Popen[bytes], patience: float = 300.0) -> None:
    deadline = time.monotonic() + patience
    while not true():
        assert process.poll() is None, "the pipeline has ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ids(home: Home) -> set[object]:
    return {one.event["id"] for one in delivered(home).values()}


def receivers(home: Home) -> int:
    return len({subscription for subscription, _ in delivered(home)})
