"""The content store: bytes under the name that their SHA-256 gives them, in a folder or in object storage."""

import hashlib
import io
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import fsspec

from polycast.errors import BadInput, NoSolution, Unreadable

CHUNK = 1 << 20


class ContentStore:
    """Content by digest. Writing twice is harmless; what is read is checked against its name.

    Parameters
    ----------
    url
        A folder, or what ``fsspec`` opens: ``s3://bucket/prefix``, ``memory://name``.
    """

    def __init__(self, url: str | Path) -> None:
        self.url = str(url)
        self._files, self._root = fsspec.core.url_to_fs(self.url, auto_mkdir=True)

    def put(self, content: bytes | Path | BinaryIO) -> str:
        """Keep the content, streamed, and return its digest. It appears whole or not at all."""
        if isinstance(content, Path):
            with content.open("rb") as stream:
                return self._put(stream)
        return self._put(io.BytesIO(content) if isinstance(content, bytes) else content)

    def _put(self, stream: BinaryIO) -> str:
        incoming = f"{self._root}/incoming/{uuid.uuid4().hex}"
        summed = hashlib.sha256()
        try:
            with self._files.open(incoming, "wb") as out:
                while chunk := stream.read(CHUNK):
                    summed.update(chunk)
                    out.write(chunk)
            digest = summed.hexdigest()
            self._adopt(incoming, self._path(digest))
        finally:
            if self._files.exists(incoming):
                self._files.rm(incoming)
        return digest

    def _adopt(self, incoming: str, path: str) -> None:
        if not self._files.exists(path):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.mv(incoming, path)

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
        """The content as a file of this machine: the store's own, or a verified copy in ``folder``."""
        self._demand(digest)
        if "file" in self._files.protocol:
            yield Path(self._path(digest))
            return
        copy = folder / digest
        with copy.open("wb") as out:
            for chunk in self.stream(digest):
                out.write(chunk)
        try:
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    def _demand(self, digest: str) -> None:
        if digest not in self:
            raise NoSolution(f"the store has no content {digest[:12]}…")

    def _path(self, digest: str) -> str:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise BadInput("digest", f'"{digest[:80]}" is not a SHA-256 in lower-case hexadecimal')
        return f"{self._root}/content/{digest[:2]}/{digest[2:]}"
