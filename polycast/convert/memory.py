"""What has been made before: renditions by content, operator, version and parameters."""

import hashlib
from typing import NamedTuple

import msgspec

from polycast.convert.registry import Tool
from polycast.convert.store import ContentStore
from polycast.model.format import Format


class Made(msgspec.Struct, frozen=True):
    """A rendition in the store, and what making it took."""

    digest: str
    size: int
    cpu_seconds: float
    version: int = 1


class Question(NamedTuple):
    """Which content, by which tool, from which form to which."""

    content: str
    tool: Tool
    source: Format
    target: Format

    def key(self) -> str:
        """The same for the same bytes: names, sizes and costs of forms play no part."""
        parameters = [
            (name, getattr(self.target, name))
            for name in self.target.__struct_fields__
            if name not in ("name", "size", "per_unit")
        ]
        said = (self.content, self.tool.name, self.tool.version, self.source.media_type, parameters)
        return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


class Memory:
    """Renditions that need not be made again, kept in the store itself."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store

    def recall(self, question: Question) -> Made | None:
        """The rendition, if it was made before and is still there."""
        made = self._noted(question.key())
        if made is not None:
            self._store.touch(made.digest)
        return made

    def remember(self, question: Question, made: Made) -> None:
        """Keep what was made for the next time that it is asked for."""
        self._store.note(question.key(), msgspec.json.encode(made))

    def sweep(self) -> None:
        """Forget what is no longer in the store."""
        for key in list(self._store.notes()):
            self._noted(key)

    def _noted(self, key: str) -> Made | None:
        text = self._store.noted(key)
        try:
            made = msgspec.json.decode(text or b"", type=Made)
        except msgspec.DecodeError:
            made = None
        if made is None or made.version != 1 or not self._is_there(made):
            self._store.forget(key)
            return None
        return made

    def _is_there(self, made: Made) -> bool:
        """Whole, as far as its size tells: what was written as the power failed may be shorter."""
        return made.digest in self._store and self._store.size(made.digest) == made.size
