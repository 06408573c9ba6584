"""A supervised pool of warm workers: a run that dies takes its worker's copy with it, never the pool."""

import logging
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from polycast.convert import messages
from polycast.convert.confinement import OWN_FFMPEG, Isolation
from polycast.convert.messages import Answer, Progress, Ready, Request
from polycast.errors import Cancelled, Crashed, Refused, Timeout

WARM = tuple(f"polycast.convert.tools.{name}" for name in ("picture", "document", "av"))
START_LIMIT = 60.0
GRACE = 5.0
"""Seconds beyond a run's own limit after which not even its warden is believed."""
GLANCE = 0.1

_log = logging.getLogger(__name__)


class WorkerLost(Exception):
    """The worker, not the run, is gone: nothing that the content did."""


class Worker:
    """One warm process and the pipes to it."""

    def __init__(self, warm: Sequence[str], scratch: Path) -> None:
        self.jobs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "polycast.convert.worker", *warm],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=scratch,
            env=_environment(scratch),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to = self._process.stdin.fileno()
        self._from = messages.Inbox(self._process.stdout.fileno())
        self.isolation = self._await_ready().isolation

    def run(
        self, request: Request, cancelled: threading.Event, progress: Callable[[float], None] | None
    ) -> Answer:
        """Have one request served; ``WorkerLost`` if the worker itself is gone."""
        self.jobs += 1
        try:
            messages.send(self._to, request)
        except BrokenPipeError:
            raise WorkerLost from None
        deadline = time.monotonic() + request.limits.wall + GRACE
        while time.monotonic() < deadline:
            if cancelled.is_set():
                raise Cancelled("cancelled")
            for message in self._arrived(GLANCE):
                if isinstance(message, Answer):
                    return message
                if isinstance(message, Progress) and progress is not None:
                    progress(message.share)
        raise Timeout(f"longer than {request.limits.wall:g} s")

    def is_idle(self) -> bool:
        """Whether the worker lives, and owes nothing."""
        return self._process.poll() is None and not select.select([self._from], [], [], 0)[0]

    def stop(self) -> None:
        """End the worker; a warden at work sees it and ends its run."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()

    def _arrived(self, patience: float) -> list[messages.Message]:
        if not select.select([self._from], [], [], patience)[0]:
            return []
        arrived = self._from.read()
        if arrived is None:
            raise WorkerLost
        return arrived

    def _await_ready(self) -> Ready:
        deadline = time.monotonic() + START_LIMIT
        try:
            while time.monotonic() < deadline:
                for message in self._arrived(GLANCE):
                    if isinstance(message, Ready):
                        return message
        except WorkerLost:
            pass
        self.stop()
        raise Crashed("a worker for conversions does not start")


class Pool:
    """So many runs at a time, each by a worker that is warm.

    Parameters
    ----------
    workers
        Runs at one time; by default one for each processor.
    warm
        Modules that a worker loads before its first run; others are loaded when first needed.
    jobs_per_worker
        After so many runs a worker is replaced.
    scratch
        The folder under which each run has a private one.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        warm: Sequence[str] = WARM,
        jobs_per_worker: int = 500,
        scratch: Path | None = None,
    ) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._warm = warm
        self._jobs_per_worker = jobs_per_worker
        self._scratch = _own_folder(scratch or Path(tempfile.gettempdir()) / f"polycast-{os.getuid()}")
        self._idle: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(self.workers):
            self._idle.put(None)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> Isolation:
        """Start every worker now rather than at its first run, and say how well the system isolates them."""
        held = [self._take() for _ in range(self.workers)]
        for worker in held:
            self._idle.put(worker)
        return held[0].isolation

    def run(
        self,
        request: Request,
        cancelled: threading.Event | None = None,
        progress: Callable[[float], None] | None = None,
        attempts: int = 3,
    ) -> Answer:
        """Have one request served. Tried again only where the worker was lost, never for what the content did."""
        for _ in range(attempts):
            try:
                with self._lent() as worker:
                    return worker.run(request, cancelled or threading.Event(), progress)
            except WorkerLost:
                continue
        raise Crashed(f"{attempts} workers were lost one after the other")

    @contextmanager
    def private_folder(self) -> Iterator[Path]:
        """A folder for one run, gone afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._scratch))
        try:
            yield folder
        finally:
            _clear(folder)

    def close(self) -> None:
        """End every worker; runs in progress end first."""
        if self._closed:
            return
        self._closed = True
        for _ in range(self.workers):
            worker = self._idle.get()
            if worker is not None:
                worker.stop()
        _clear(self._scratch)

    @contextmanager
    def _lent(self) -> Iterator[Worker]:
        worker = self._take()
        returned: Worker | None = None
        try:
            yield worker
            returned = worker
        finally:
            if returned is None:
                worker.stop()
            self._idle.put(returned)

    def _take(self) -> Worker:
        """An idle worker; a new one where there is none yet, or it is dead or worn."""
        worker = self._idle.get()
        try:
            if worker is not None and worker.jobs < self._jobs_per_worker and worker.is_idle():
                return worker
            if worker is not None:
                worker.stop()
            return self._new_worker()
        except BaseException:
            self._idle.put(None)
            raise

    def _new_worker(self) -> Worker:
        worker = Worker(self._warm, self._scratch)
        if missing := worker.isolation.missing():
            _warn(missing)
        return worker


def _clear(folder: Path) -> None:
    """Remove what runs have left, however deep: Python's own way calls itself for every folder inside."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)


@cache
def _warn(missing: str) -> None:
    """Said once: it holds for all runs on this system."""
    _log.warning("polycast: on this system, content that takes over a conversion could %s", missing)


def _environment(scratch: Path) -> dict[str, str]:
    """The least that a worker needs: where our modules are, and nothing that may be a secret."""
    chosen = {name: os.environ[name] for name in (OWN_FFMPEG,) if name in os.environ}
    return chosen | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path if os.path.isdir(place or ".")),
        "OPENBLAS_NUM_THREADS": "1",
    }


def _own_folder(scratch: Path) -> Path:
    """A folder of this process; those of processes that were killed are cleared away."""
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    if scratch.is_symlink() or scratch.stat().st_uid != os.getuid():
        raise Refused(f"{scratch} belongs to somebody else; let TMPDIR name a folder of yours")
    for left in scratch.glob("pool-*-*"):
        if not _is_running(int(left.name.split("-")[1])):
            _clear(left)
    return Path(tempfile.mkdtemp(prefix=f"pool-{os.getpid()}-", dir=scratch))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
