"""Landlock: a process gives up, for good, every file but those it names, and TCP (Linux 5.13 and later)."""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from polycast.errors import Refused

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, RULE_PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
READ = EXECUTE | READ_FILE | READ_DIRECTORY
ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE

# Rights that each version of the kernel's interface knows, from the first on.
RIGHTS_BY_VERSION = (13, 14, 15, 15, 16)
BIND_AND_CONNECT, FIRST_VERSION_WITH_NETWORK = 0b11, 4
SIGNALS_AND_SOCKETS, FIRST_VERSION_WITH_SCOPES = 0b11, 6

_system = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Which version of Landlock the kernel offers; 0 for none."""
    return max(0, int(_system.syscall(CREATE_RULESET, None, 0, ASK_VERSION)))


def keeps_signals() -> bool:
    """Whether it keeps a process from ending others, too."""
    return version() >= FIRST_VERSION_WITH_SCOPES


def restrict(readable: Iterable[str | Path], writable: Iterable[str | Path]) -> None:
    """From now on read only what is beneath the ``readable`` paths, and write beneath the ``writable`` ones.

    No new privileges must have been given up before. Paths that do not exist are passed over.
    """
    known = version()
    rights = (1 << RIGHTS_BY_VERSION[min(known, len(RIGHTS_BY_VERSION)) - 1]) - 1
    rules = _Ruleset(
        rights,
        BIND_AND_CONNECT if known >= FIRST_VERSION_WITH_NETWORK else 0,
        SIGNALS_AND_SOCKETS if known >= FIRST_VERSION_WITH_SCOPES else 0,
    )
    size = 24 if known >= FIRST_VERSION_WITH_SCOPES else 16 if known >= FIRST_VERSION_WITH_NETWORK else 8
    ruleset = _done(_system.syscall(CREATE_RULESET, ctypes.byref(rules), size, 0))
    for path in readable:
        _allow(ruleset, path, READ & rights)
    for path in writable:
        _allow(ruleset, path, rights)
    _done(_system.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str | Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not Path(path).is_dir():
        rights &= ON_A_FILE
    rule = _Beneath(rights, parent)
    _done(_system.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0))
    os.close(parent)


def _done(answer: int) -> int:
    if answer < 0:
        raise Refused(f"the system does not confine this run: {os.strerror(ctypes.get_errno())}")
    return answer
