"""The home: the one folder that all data of an installation lives under, and what each folder in it is for."""

import ctypes
import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

LONGEST = 160
"""Characters of a name; file systems allow 255, and endings come after it."""


@dataclass(frozen=True)
class Home:
    """Where everything is; folders come to be when something is first put into them."""

    root: Path

    @property
    def inbox(self) -> Path:
        """What is published and not yet dealt with: an event to a file, its content beside or inside."""
        return self.root / "inbox"

    @property
    def archive(self) -> Path:
        """The events that have been dealt with."""
        return self.root / "archive"

    @property
    def dead_letters(self) -> Path:
        """What could not be read, or not be given to everyone, with the reason."""
        return self.root / "dead-letters"

    @property
    def content(self) -> Path:
        """The content store."""
        return self.root / "content"

    @property
    def mailboxes(self) -> Path:
        """A folder for each subscriber, with what was delivered."""
        return self.root / "mailbox"

    @property
    def plans(self) -> Path:
        """For each publication, who gets it in which form, and where it is converted."""
        return self.root / "plans"

    @property
    def bills(self) -> Path:
        """For each publication, what was planned and what was spent; written when all is delivered."""
        return self.root / "bills"

    @property
    def indexes(self) -> Path:
        """The match index of the network's subscriptions; made again when it is not there."""
        return self.root / "index"

    @property
    def scratch(self) -> Path:
        """What is of use only while a pipeline runs."""
        return self.root / "tmp"

    @property
    def checkpoint(self) -> Path:
        """Which files of the inbox the stream has seen."""
        return self.root / "checkpoint"

    @property
    def log(self) -> Path:
        """What Spark has to say."""
        return self.root / "logs" / "spark.log"

    def mailbox(self, subscription: str) -> Path:
        """The folder of one subscriber."""
        return self.mailboxes / file_name(subscription)


def file_name(*words: str) -> str:
    """A name for a file that says what it is called after, and can be no other file's; case is kept."""
    name = ".".join(quote(word, safe=" +,=@").replace(".", "%2E") for word in words)
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST // 2]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"


@contextmanager
def written(path: Path, scratch: Path | None = None, *, lasting: bool = False) -> Iterator[BinaryIO]:
    """A file that appears whole or not at all, and replaces what was there.

    Until it is whole it lies beside its place, or in a scratch folder, which is cleared of what a killed run left.

    Parameters
    ----------
    lasting
        Whether it must be there after a power cut, too. What is not may be lost then, or be torn.
    """
    passing = (scratch or path.parent) / f".{uuid.uuid4().hex}"
    path.parent.mkdir(parents=True, exist_ok=True)
    passing.parent.mkdir(parents=True, exist_ok=True)
    try:
        with passing.open("wb") as out:
            yield out
            if lasting:
                out.flush()
                os.fsync(out.fileno())
        os.replace(passing, path)
        if lasting:
            _fsync_folder(path.parent)
    finally:
        passing.unlink(missing_ok=True)


def flush(folder: Path) -> None:
    """Let everything that was written where a folder is last through a power cut: cheaper than file by file."""
    with _opened(folder) as descriptor:
        syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if syncfs is None:  # not on Linux
            os.sync()
        elif syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _fsync_folder(folder: Path) -> None:
    with _opened(folder) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
