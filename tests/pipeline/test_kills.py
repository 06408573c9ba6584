"""Whatever is killed, and whenever: nothing is lost, and nothing delivered twice."""

import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from polycast.home import Home
from polycast.pipeline import inbox, mailbox, plans
from tests.pipeline.publications import delivered, map_event, note, stray_files
from tests.pipeline.test_crash import start, wait_until


class Witness:
    """Remembers when each delivery was first seen; one that is written again has another moment."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.seen: dict[Path, int] = {}

    def look(self) -> None:
        for note_ in self._home.mailboxes.glob(f"*/*{mailbox.NOTE}"):
            moment = note_.stat().st_mtime_ns
            assert self.seen.setdefault(note_, moment) == moment, f"{note_} was delivered twice"


def victims(process: subprocess.Popen[bytes], kind: str) -> Iterator[psutil.Process]:
    """The driver, Spark's Java, one of the Python workers or of what they have started; or all at once."""
    driver = psutil.Process(process.pid)
    others = driver.children(recursive=True)
    java = [child for child in others if child.name() == "java"]
    rest = [child for child in others if child.name() != "java"]
    yield from {"driver": [driver], "java": java, "worker": rest, "all": [driver, *others]}[kind]


def kill_one(process: subprocess.Popen[bytes], dice: random.Random) -> str:
    kind = dice.choice(("driver", "java", "worker", "worker", "all"))
    try:
        found = list(victims(process, kind))
        for victim in found if kind == "all" else dice.sample(found, min(1, len(found))):
            victim.kill()
    except psutil.NoSuchProcess:
        pass  # it has just ended by itself
    return kind


def killed_at_random(
    home: Home, folder: Path, the_map: Path, seed: int, notes: int, maps: int, kills: int
) -> None:
    print(f"seed {seed}")  # shown if it fails
    dice, witness = random.Random(seed), Witness(home)
    events = [note(f"n{number}") for number in range(notes)]
    maps_ = [map_event(f"m{number}") for number in range(maps)]
    for event in events:
        inbox.put_event(home.inbox, event)
    for number, event in enumerate(maps_):
        content = folder / f"{number}.pdf"
        content.write_bytes(the_map.read_bytes() + b"\n" * number)  # other bytes: nothing is remembered
        inbox.put(home.inbox, event, content)
    process = start(home, folder)
    for _ in range(kills):
        until = time.monotonic() + dice.uniform(0, 12)
        while time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
        kill_one(process, dice)
        witness.look()
        time.sleep(dice.uniform(0, 2))
        if process.poll() is not None:
            process = start(home, folder)
    process = finish(home, folder, process)
    witness.look()
    process.send_signal(signal.SIGINT)
    assert process.wait(100) == 130

    found = delivered(home)
    for event in events + maps_:
        wanted = {
            (one.subscription, one.format) for one in plans.read_plan(plans.plan_file(home, event.key)).deliveries
        }
        got = [(one.subscription, one.form) for one in found.values() if one.publication == event.key]
        assert set(got) == wanted
        assert len(got) == len(wanted)
    assert stray_files(home) == []
    assert not home.dead_letters.exists()


def finish(home: Home, folder: Path, process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """Let the last one deal with all that is left; it may notice only now that its Java has been killed."""
    for _ in range(3):
        try:
            wait_until(lambda: not inbox.waiting(home.inbox), process)
        except AssertionError:
            process = start(home, folder)
        else:
            return process
    raise AssertionError("three pipelines have ended by themselves")


def test_killed_at_random_and_started_again(home: Home, tmp_path: Path, the_map: Path) -> None:
    killed_at_random(home, tmp_path, the_map, seed=int(time.time()) % 1000, notes=60, maps=2, kills=2)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6))
def test_killed_again_and_again(home: Home, tmp_path: Path, the_map: Path, seed: int) -> None:
    killed_at_random(home, tmp_path, the_map, seed, notes=600, maps=12, kills=12)
