"""The inbox as Spark's streams see it."""

import copy
import os

from polycast.home import Home
from polycast.pipeline import inbox
from polycast.pipeline.source import Waiting
from tests.pipeline.publications import note


def test_a_batch_is_what_waits_and_can_be_read_again(home: Home) -> None:
    source = Waiting(home.inbox)
    start = source.initialOffset()
    rows, same = source.read(start)
    assert (list(rows), same) == ([], start), "nothing waits, nothing happens"
    paths = [inbox.put_event(home.inbox, note(str(number))) for number in range(3)]
    os.utime(paths[2], (1e9, 1e9))
    rows, end = source.read(start)
    files = [(str(path),) for path in (paths[2], paths[0], paths[1])]
    assert list(copy.copy(rows)) == files == list(source.readBetweenOffsets(start, end))
    for path in paths:
        inbox.settle(path, home.archive)
    assert source.read(end)[1] == end


def test_a_name_may_be_used_again(home: Home) -> None:
    source = Waiting(home.inbox)
    first = inbox.put_event(home.inbox, note("n"))
    _, end = source.read(source.initialOffset())
    inbox.settle(first, home.archive)
    (home.archive / first.name).rename(first)
    rows, _ = source.read(end)
    assert list(rows) == [(str(first),)]


def test_an_inbox_that_is_not_there_yet_is_empty(home: Home) -> None:
    home.inbox.rmdir()
    assert inbox.waiting(home.inbox) == []
