"""What a process of the sandbox may do: the system's own limits, namespaces, Landlock and a filter of calls.

A guard that a system lacks is left out, and ``Isolation`` says so; the limits on time, memory, output and
processes hold everywhere.
"""

import ctypes
import math
import os
import platform
import re
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

import polycast
from polycast.convert import landlock, seccomp
from polycast.convert.task import Limits
from polycast.errors import Refused

NEWUSER, NEWIPC, NEWNET, NEWPID = 0x10000000, 0x08000000, 0x40000000, 0x20000000
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVILEGES = 1, 36, 38
SIGKILL = 9
NOBODY = 65534
LINUX = sys.platform == "linux"

READABLE = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/zero")
WRITABLE = ("/dev/null",)
PACKAGES = ("site-packages", "dist-packages")
OWN_FFMPEG = "IMAGEIO_FFMPEG_EXE"
"""The variable that names an ffmpeg to run instead of the one that comes with its package."""
MORE_NAMESPACES = "/proc/sys/user/max_user_namespaces"
MOST_NUMBERS = "/proc/sys/kernel/pid_max"
RESERVED_NUMBERS = 300
"""Numbers of processes that are not given out twice."""
KERNEL = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) if LINUX else (0, 0)
NUMBERS_BY_NAMESPACE = (6, 14)
CAPABILITIES_VERSION = 0x20080522
SPARE = 2
"""Seconds of processor time beyond the limit, for the warden to end a run before the system does, which counts in
ticks and does not say why."""

_system = ctypes.CDLL(None, use_errno=True)


class Isolation(msgspec.Struct, frozen=True):
    """Which guards this system gives beyond its plain limits.

    Parameters
    ----------
    network
        A run has no network, not even to this machine.
    processes
        A run has a process namespace: whatever it starts ends with it, without exception.
    files
        A run reads its content and its programs, writes its own folder, and reaches no other file.
    calls
        A run opens no socket, and uses no part of the kernel that tools have no need of.
    """

    network: bool
    processes: bool
    files: bool
    calls: bool

    def missing(self) -> str:
        """What runs could do here that they should not, in words; nothing, if they can do none of it."""
        could = {
            "reach the network": self.network or self.calls,
            "end what this user runs": self.processes or (self.files and landlock.keeps_signals()),
            "read what this user may read": self.files,
        }
        return " and ".join(what for what, guarded in could.items() if not guarded)


def isolate() -> Isolation:
    """Leave the network behind, as far as the system lets us; find out what else it offers."""
    files, calls = LINUX and landlock.version() > 0, seccomp.HERE and _permitted(_filter_calls)
    if not (LINUX and _permitted(_leave_network)):
        return Isolation(network=False, processes=False, files=files, calls=calls)
    _leave_network()
    return Isolation(network=True, processes=_permitted(separate_processes), files=files, calls=calls)


def separate_processes() -> None:
    """Let the next child be the first of a process namespace: when it ends, all in it ends."""
    _unshare(NEWPID)


def bound_processes(most: int) -> None:
    """Let the process namespace, whose first process we are, never have many more than so many.

    The warden counts too, but on a busy machine it may get no turn while they multiply; and the system's limit
    on a user's processes does not hold for root. Kernels before 6.14 know one number for all, which is left alone.
    """
    if KERNEL >= NUMBERS_BY_NAMESPACE:
        with suppress(OSError):
            Path(MOST_NUMBERS).write_text(str(RESERVED_NUMBERS + most + 1))


def adopt_orphans() -> None:
    """Become the parent of whatever our descendants leave behind, so that it can be ended."""
    if LINUX:
        _system.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the process that started us is gone."""
    if LINUX:
        _system.prctl(SET_PARENT_DEATH_SIGNAL, SIGKILL, 0, 0, 0)


def confine(limits: Limits, folder: Path, readable: Sequence[Path], isolation: Isolation) -> None:
    """Give up, for good, all that a tool does not need."""
    _lower(resource.RLIMIT_CPU, math.ceil(limits.cpu) + SPARE)
    _lower(resource.RLIMIT_DATA, limits.memory)
    _lower(resource.RLIMIT_AS, 4 * limits.memory)
    _lower(resource.RLIMIT_FSIZE, limits.output)
    _lower(resource.RLIMIT_CORE, 0)
    if isolation.network:  # elsewhere the system counts the processes of the user, not those of the run
        _lower(resource.RLIMIT_NPROC, limits.processes)
    if LINUX:
        _give_up_privileges()
    if isolation.files:
        landlock.restrict((*READABLE, *programs(), *readable), (*WRITABLE, folder))
    _lower(resource.RLIMIT_NOFILE, limits.files)  # only now: rules open what they name
    if isolation.calls:
        seccomp.restrict()


def programs() -> Iterator[Path]:
    """Where this Python, its packages and our own tools are; packages may be outside of its prefix."""
    yield from (Path(sys.prefix), Path(sys.base_prefix), Path(polycast.__file__).parent)
    yield from (Path(place) for place in sys.path if Path(place).name in PACKAGES)
    if OWN_FFMPEG in os.environ:
        yield Path(os.environ[OWN_FFMPEG])


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _leave_network() -> None:
    user, group = os.getuid(), os.getgid()
    _unshare(NEWUSER | NEWNET | NEWIPC)
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
    with suppress(OSError):  # within another one, a run would have all privileges again
        Path(MORE_NAMESPACES).write_text("0")


def _give_up_privileges() -> None:
    """Also those that a process has in a namespace of its own, where they reach much of the kernel."""
    _system.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    _system.capset(header, (ctypes.c_uint32 * 6)())


def _filter_calls() -> None:
    _system.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    seccomp.restrict()


def _unshare(what: int) -> None:
    if _system.unshare(what) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _permitted(step: Callable[[], None]) -> bool:
    """Whether the system lets us: tried by a child, because there is no way back."""
    child = os.fork()
    if child == 0:
        try:
            step()
            os._exit(0)
        except (OSError, Refused):
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
