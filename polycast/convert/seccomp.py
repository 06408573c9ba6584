"""A filter on system calls: a process gives up, for good, what no tool needs (Linux on x86-64).

Sockets, also those that are files of this machine, which neither a namespace nor Landlock keeps away; memory that
no process is seen to have; other processes, keys, and parts of the kernel that content has no business with.
"""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterator

from polycast.errors import Refused

HERE = sys.platform == "linux" and platform.machine() == "x86_64"
DENIED = {
    "shmget": 29,
    "socket": 41,
    "ptrace": 101,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "unshare": 272,
    "perf_event_open": 298,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "memfd_create": 319,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "memfd_secret": 447,
}
"""Numbers of system calls; they never change."""

SET_SECCOMP, WITH_FILTER = 22, 2
LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
X86_64, OTHER_NUMBERING = 0xC000003E, 0x40000000
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM

_system = ctypes.CDLL(None, use_errno=True)


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("yes", ctypes.c_ubyte),
        ("no", ctypes.c_ubyte),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def restrict() -> None:
    """From now on every call that is denied fails. No new privileges must have been given up before."""
    lines = [_Instruction(*line) for line in _filter()]
    program = _Program(len(lines), (_Instruction * len(lines))(*lines))
    if _system.prctl(SET_SECCOMP, WITH_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise Refused(f"the system does not filter the calls of this run: {os.strerror(ctypes.get_errno())}")


def _filter() -> Iterator[tuple[int, int, int, int]]:
    """The instructions. A jump says how many of those that follow are left out, if it holds and if not."""
    yield LOAD, 0, 0, ARCHITECTURE
    yield IF_EQUAL, 1, 0, X86_64
    yield RETURN, 0, 0, REFUSE
    yield LOAD, 0, 0, NUMBER
    yield IF_AT_LEAST, len(DENIED) + 1, 0, OTHER_NUMBERING
    for left, number in zip(range(len(DENIED), 0, -1), DENIED.values(), strict=True):
        yield IF_EQUAL, left, 0, number
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, REFUSE
