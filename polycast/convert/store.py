"""The content store: bytes under the name that their SHA-256 gives them, in a folder or in object storage."""

import hashlib
import io
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import fsspec

from polycast.errors import BadInput, NoSolution, TooLarge, Unreadable

CHUNK = 1 << 20
HOUR = 3600.0


class Item(NamedTuple):
    """One content in the store."""

    digest: str
    size: int
    used: float
    """When it was last written or asked for, in seconds since 1970."""


class Collected(NamedTuple):
    """What a clearing of the store removed."""

    contents: int
    bytes: int


class ContentStore:
    """Content by digest. Writing twice is harmless; what is read is checked against its name.

    Parameters
    ----------
    url
        A folder, or what ``fsspec`` opens: ``s3://bucket/prefix``, ``memory://name``.
    most_bytes
        How large one content may be.
    """

    def __init__(self, url: str | Path, most_bytes: int | None = None) -> None:
        self.url = str(url)
        self._most_bytes = most_bytes
        try:
            self._files, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:  # its package is not installed, or nobody knows it
            raise BadInput(self.url, str(error)) from None
        self._root = root.rstrip("/")
        self._is_local = "file" in self._files.protocol

    def put(self, content: bytes | Path | BinaryIO) -> str:
        """Keep the content, streamed, and return its digest. It appears whole or not at all."""
        if isinstance(content, Path):
            with content.open("rb") as stream:
                return self._put(stream)
        return self._put(io.BytesIO(content) if isinstance(content, bytes) else content)

    def adopt(self, file: Path) -> str:
        """Keep a file that is no longer needed where it is: moved if that can be, else copied."""
        if not self._is_local:
            return self.put(file)
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        path = Path(self._path(digest))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file.chmod(0o644)
            file.replace(path)
        except OSError:  # another file system
            return self.put(file)
        return digest

    def __contains__(self, digest: object) -> bool:
        return isinstance(digest, str) and bool(self._files.exists(self._path(digest)))

    def size(self, digest: str) -> int:
        """How many bytes the content has."""
        self._demand(digest)
        return int(self._files.size(self._path(digest)))

    def get(self, digest: str) -> bytes:
        """The whole content, verified."""
        return b"".join(self.stream(digest))

    def stream(self, digest: str) -> Iterator[bytes]:
        """The content in pieces; ``Unreadable`` after the last one if they are not what the digest says."""
        self._demand(digest)
        summed = hashlib.sha256()
        with self._files.open(self._path(digest), "rb") as file:
            while chunk := file.read(CHUNK):
                summed.update(chunk)
                yield chunk
        if summed.hexdigest() != digest:
            raise Unreadable(f"content {digest[:12]}… is damaged in the store")

    @contextmanager
    def local(self, digest: str, folder: Path) -> Iterator[Path]:
        """The content, verified, as a file of this machine: the store's own, or a passing copy in ``folder``."""
        if self._is_local:
            for _ in self.stream(digest):
                pass
            yield Path(self._path(digest))
            return
        copy = folder / f"{digest}-{uuid.uuid4().hex[:8]}"
        try:
            with copy.open("wb") as out:
                out.writelines(self.stream(digest))
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    def touch(self, digest: str) -> None:
        """Mark the content as used just now, where the storage can."""
        with suppress(NotImplementedError, OSError):
            self._files.touch(self._path(digest), truncate=False)

    def remove(self, digest: str) -> None:
        """Forget one content; it is no error if it is gone already."""
        with suppress(FileNotFoundError):
            self._files.rm(self._path(digest))

    def items(self) -> Iterator[Item]:
        """Everything in the store, in no particular order."""
        for entry in self._entries("content"):
            yield Item(_digest(entry), int(entry["size"] or 0), _moment(entry))

    def collect(
        self,
        keep: Collection[str] | None = None,
        most_bytes: int | None = None,
        spare: float = HOUR,
    ) -> Collected:
        """Clear the store.

        Parameters
        ----------
        keep
            Contents that must stay; all others go. None: all may stay.
        most_bytes
            How much the store may hold; what was used longest ago goes first, but nothing of ``keep``.
        spare
            Nothing younger than so many seconds goes: its publication may not be known yet.
        """
        items = sorted(self.items(), key=lambda item: item.used)
        excess = sum(item.size for item in items) - (float("inf") if most_bytes is None else most_bytes)
        count = removed = 0
        now = time.time()
        for item in items:
            kept = keep is not None and item.digest in keep
            unwanted = keep is not None and not kept
            if now - item.used < spare or kept or not (unwanted or removed < excess):
                continue
            self.remove(item.digest)
            count, removed = count + 1, removed + item.size
        self._clear_incoming(now - max(spare, HOUR))
        return Collected(count, removed)

    def note(self, key: str, text: bytes) -> None:
        """Keep a short text under a key of 64 hexadecimal digits, beside the contents."""
        path = self._path(key, "notes")
        incoming = self._incoming()
        with self._files.open(incoming, "wb") as out:
            out.write(text)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.mv(incoming, path)

    def noted(self, key: str) -> bytes | None:
        """The text under a key, if there is one."""
        try:
            return bytes(self._files.cat_file(self._path(key, "notes")))
        except FileNotFoundError:
            return None

    def forget(self, key: str) -> None:
        """Let go of the text under a key."""
        with suppress(FileNotFoundError):
            self._files.rm(self._path(key, "notes"))

    def notes(self) -> Iterator[str]:
        """The keys of all notes."""
        return map(_digest, self._entries("notes"))

    def _put(self, stream: BinaryIO) -> str:
        incoming = self._incoming()
        summed, size = hashlib.sha256(), 0
        try:
            with self._files.open(incoming, "wb") as out:
                while chunk := stream.read(CHUNK):
                    size += len(chunk)
                    if self._most_bytes is not None and size > self._most_bytes:
                        raise TooLarge(f"content of more than {self._most_bytes} bytes")
                    summed.update(chunk)
                    out.write(chunk)
            self._move(incoming, summed.hexdigest())
        finally:
            if self._files.exists(incoming):
                self._files.rm(incoming)
        return summed.hexdigest()

    def _move(self, incoming: str, digest: str) -> None:
        """Also over what is there already: it may be damaged."""
        path = self._path(digest)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.mv(incoming, path)

    def _incoming(self) -> str:
        try:
            self._files.makedirs(f"{self._root}/incoming", exist_ok=True)
        except OSError as error:
            raise BadInput(self.url, f"no store can be here: {error.strerror or error}") from None
        return f"{self._root}/incoming/{uuid.uuid4().hex}"

    def _clear_incoming(self, before: float) -> None:
        for entry in self._listed(f"{self._root}/incoming"):
            if _moment(entry) < before:
                with suppress(FileNotFoundError):
                    self._files.rm(entry["name"])

    def _entries(self, room: str) -> Iterator[dict[str, Any]]:
        for folder in self._listed(f"{self._root}/{room}"):
            yield from self._listed(folder["name"])

    def _listed(self, folder: str) -> list[dict[str, Any]]:
        try:
            return list(self._files.ls(folder, detail=True, refresh=True))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _demand(self, digest: str) -> None:
        if digest not in self:
            raise NoSolution(f"the store has no content {digest[:12]}…")

    def _path(self, digest: str, room: str = "content") -> str:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise BadInput("digest", f'"{digest[:80]}" is not a SHA-256 in lower-case hexadecimal')
        return f"{self._root}/{room}/{digest[:2]}/{digest[2:]}"


def _digest(entry: dict[str, Any]) -> str:
    return "".join(str(entry["name"]).rsplit("/", 2)[1:])


def _moment(entry: dict[str, Any]) -> float:
    """When a file was last written, in whichever way its storage says so."""
    for name in ("mtime", "LastModified", "updated", "last_modified", "created"):
        moment = entry.get(name)
        if isinstance(moment, int | float):
            return float(moment)
        if isinstance(moment, datetime):
            return moment.timestamp()
    return time.time()
