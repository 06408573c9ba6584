"""The warden of one run: starts it confined, watches it, ends it and all it has started, and says what it took."""

import errno
import glob
import importlib
import math
import os
import resource
import select
import signal
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from polycast.convert import confinement, magic, messages
from polycast.convert.confinement import Isolation
from polycast.convert.messages import Answer, Message, Progress, Request
from polycast.convert.task import Output, Task
from polycast.errors import Cancelled, ConversionError, Refused, Timeout, TooLarge

STDIN, REPORTS = 0, 3
LOOK_EVERY = 0.05
"""Seconds between two looks at what a run has written and started."""
OF_THE_SYSTEM = {
    errno.EFBIG: ("TooLarge", "more than {limits.output} bytes written"),
    errno.ENOSPC: ("TooLarge", "no space left for what is written"),
    errno.ENOMEM: ("TooLarge", "more than {limits.memory} bytes of memory"),
    errno.EMFILE: ("Refused", "more than {limits.files} open files"),
    errno.EAGAIN: ("Refused", "more than {limits.processes} processes"),
}
"""What the system's own limits say, in the words of our errors."""
BY_A_RUN = ("Timeout", "TooLarge", "Unreadable", "Crashed", "Refused")
"""The errors that a run may say it ended with."""
MOST_FILES = 10_000
"""Files and folders that a run may make."""
PAGE = resource.getpagesize()
TICK = 1.0 / os.sysconf("SC_CLK_TCK")
TIMES = slice(11, 15)
"""Where, behind its name, the ``stat`` of a process has its processor time and that of its children that ended."""


class Warden:
    """One run, from its start to its answer."""

    def __init__(self, request: Request, isolation: Isolation, answers: int) -> None:
        self.request = request
        self.limits = request.limits
        self.isolation = isolation
        self.answers = answers
        self.deadline = time.monotonic() + self.limits.wall
        self.next_look = 0.0
        self.said: Answer | None = None

    def watch(self) -> None:
        """Start the run, wait for its end or bring it about, and answer."""
        confinement.adopt_orphans()
        if self.isolation.processes:
            confinement.separate_processes()
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(here)
            self._run(there)
        os.close(there)
        reason = self._wait(messages.Inbox(here))
        end_group(child)
        _, status = os.waitpid(child, 0)
        end_descendants()
        messages.send(self.answers, self._answer(reason, status, resource.getrusage(resource.RUSAGE_CHILDREN)))

    def _wait(self, reports: messages.Inbox) -> ConversionError | None:
        """Relay what the run reports until it ends; the reason, if it must be ended."""
        poll = select.poll()
        poll.register(reports, select.POLLIN)
        poll.register(STDIN, select.POLLIN)
        while True:
            wait = max(0.0, min(LOOK_EVERY, self.deadline - time.monotonic()))
            ready = {number for number, _ in poll.poll(math.ceil(wait * 1000))}
            if STDIN in ready:
                return Cancelled("cancelled")
            if reports.fileno() in ready and self._over(reports.read()):
                return None
            try:
                self._look()
            except ConversionError as error:
                return error

    def _over(self, reported: list[Message] | None) -> bool:
        """Whether the run has given its answer, or is gone without one. Of its progress, the last word counts."""
        if reported is None:
            return True
        for message in reported:
            if isinstance(message, Answer):
                self.said = message
                return True
        if time.monotonic() > self.next_look and isinstance(reported[-1] if reported else None, Progress):
            messages.send(self.answers, reported[-1])
        return False

    def _look(self) -> None:
        """What the system's own limits do not see, now and then."""
        limits = self.limits
        if time.monotonic() > self.deadline:
            raise Timeout(f"longer than {limits.wall:g} s")
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + LOOK_EVERY
        family = descendants(os.getpid(), limits.processes)
        if len(family) > limits.processes:
            raise Refused(f"more than {limits.processes} processes")
        if written(Path(self.request.folder)) + nameless(family) > limits.output:
            raise TooLarge(f"more than {limits.output} bytes written")
        if sum(map(processor_time, family)) > limits.cpu:
            raise self._too_much_work()
        if all(sum(map(measure, family)) > limits.memory for measure in (resident, proportional)):
            raise TooLarge(f"more than {limits.memory} bytes of memory")

    def _answer(self, reason: ConversionError | None, status: int, spent: resource.struct_rusage) -> Answer:
        seconds, memory = spent.ru_utime + spent.ru_stime, spent.ru_maxrss * 1024
        if reason is not None:
            return Answer(type(reason).__name__, str(reason), seconds, memory)
        if self.said is not None and self.said.error in (None, *BY_A_RUN):
            return Answer(self.said.error, in_one_line(self.said.why), seconds, memory)
        if seconds >= self.limits.cpu:
            return Answer("Timeout", str(self._too_much_work()), seconds, memory)
        return Answer("Crashed", f"the tool {ending(status)}", seconds, memory)

    def _too_much_work(self) -> Timeout:
        return Timeout(f"more than {self.limits.cpu:g} s of processor time")

    def _run(self, reports: int) -> None:
        """In the child: confined, do the work, report, and end without a trace."""
        try:
            confinement.die_with_parent()
            if self.isolation.processes:
                confinement.bound_processes(self.limits.processes)
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            if reports != REPORTS:
                os.dup2(reports, REPORTS, inheritable=False)
            os.closerange(REPORTS + 1, 256)
            messages.send(REPORTS, perform(self.request, self.isolation))
        finally:
            os._exit(0)


def perform(request: Request, isolation: Isolation) -> Answer:
    """Confine ourselves, run the tool, and say how it ended."""
    module, _, name = request.entry.partition(":")
    folder, content = Path(request.folder), Path(request.content)
    outputs = tuple(Output(format, folder / f"output-{number}") for number, format in enumerate(request.targets))
    try:
        loaded = importlib.import_module(module)
        confinement.confine(request.limits, folder, (content, *code_of(module)), isolation)
        magic.check(content, request.source)
        getattr(loaded, name)(Task(content, request.source, outputs, request.limits, report))
    except ConversionError as error:
        return Answer(type(error).__name__, str(error))
    except MemoryError:
        return Answer("TooLarge", f"more than {request.limits.memory} bytes of memory")
    except OSError as error:
        name, why = OF_THE_SYSTEM.get(error.errno or 0, ("Crashed", ""))
        return Answer(name, why.format(limits=request.limits) or str(error))
    except Exception as error:
        return Answer("Crashed", f"{type(error).__name__}: {error}")
    return Answer()


def code_of(module: str) -> list[Path]:
    """Where a tool's code is: its package, or its one file, beside which may be anything."""
    top = sys.modules[module.partition(".")[0]]
    return [Path(place) for place in getattr(top, "__path__", None) or [top.__file__ or ""]]


def report(share: float) -> None:
    """Tell the warden how far the work is."""
    messages.send(REPORTS, Progress(share))


def end_group(leader: int) -> None:
    """Kill a session's first process and all that is still in its group."""
    for kill, target in ((os.killpg, leader), (os.kill, leader)):
        try:
            kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def end_descendants() -> None:
    """Kill what has fled into sessions of its own; as its adoptive parent we see all of it."""
    while family := descendants(os.getpid()):
        for process in family:
            end_group(process)
        reap()


def reap() -> None:
    """Let go of the children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def descendants(process: int, most: float = math.inf) -> list[int]:
    """The children of a process, their children, and so on; no further once there are too many."""
    found: list[int] = []
    open_ = [process]
    while open_ and len(found) <= most:
        born = children(open_.pop())
        found += born
        open_ += born
    return found


def children(process: int) -> list[int]:
    """The children of a process, as far as it is still there."""
    found: list[int] = []
    for file in glob.glob(f"/proc/{process}/task/*/children"):
        try:
            found += map(int, Path(file).read_text().split())
        except OSError:
            continue
    return found


def resident(process: int) -> int:
    """Bytes of memory that a process has, by itself or together with others."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def proportional(process: int) -> int:
    """The same, where what processes have in common counts once; it takes longer to find out."""
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text()
        return int(told.partition("\nPss:")[2].split()[0]) << 10
    except (OSError, IndexError):
        return resident(process)


def processor_time(process: int) -> float:
    """Seconds of processor time that a process has taken, with those of its children that have ended."""
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    return TICK * sum(map(int, told.rpartition(")")[2].split()[TIMES]))


def written(folder: Path) -> int:
    """Bytes of all files below a folder. There may not be too many of them, nor folders that hide some."""
    size = count = 0
    open_ = [str(folder)]
    while open_:  # not os.walk, which calls itself for every folder inside
        for entry in _entries(open_.pop()):
            count += 1
            if count > MOST_FILES:
                raise TooLarge(f"more than {MOST_FILES} files written")
            if entry.is_dir(follow_symlinks=False):
                open_.append(entry.path)
            else:
                size += _size(entry)
    return size


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        _seen(error)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        _seen(error)
        return 0


def nameless(family: Iterable[int]) -> int:
    """Bytes of the files that some processes hold open and that are in no folder, each counted once."""
    sizes: dict[tuple[int, int], int] = {}
    for file in (file for process in family for file in glob.glob(f"/proc/{process}/fd/*")):
        try:
            held = os.stat(file)
        except OSError:
            continue
        if stat.S_ISREG(held.st_mode) and not held.st_nlink:
            sizes[held.st_dev, held.st_ino] = held.st_size
    return sum(sizes.values())


def _seen(error: OSError) -> None:
    """A folder that is gone meanwhile hides nothing; one that is too deep to be named, or closed, does."""
    if not isinstance(error, FileNotFoundError):
        raise Refused(f"a folder that nobody can look into: {error.strerror}")


def in_one_line(said: str) -> str:
    """What a run says, so that it can be printed: it may have been taken over."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in said[:500]).split())


def ending(status: int) -> str:
    """How a process ended, in words."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return "ended without an answer"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
