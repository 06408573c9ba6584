"""The inbox as a source of Spark's streams: a batch is what waits there now, and its checkpoint names the files.

Spark's own source of files remembers every file that it has ever seen, leaves out what is older than a week, and
stumbles over folders and names that mean something to it. Ours has nothing to remember: what has been dealt with
leaves the inbox.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from polycast.pipeline import inbox

MOST_FILES = 200
"""Publications to a batch: enough to be worth its overhead, few enough that none waits long."""

Offset = dict[str, Any]


class InboxSource(DataSource):
    """The files that wait in the folder that the option ``path`` names."""

    @classmethod
    def name(cls) -> str:
        return "polycast-inbox"

    def schema(self) -> str:
        return "file string"

    def simpleStreamReader(self, schema: object) -> "Waiting":  # noqa: N802 - Spark calls it so
        del schema
        return Waiting(Path(self.options["path"]))


class Waiting(SimpleDataSourceStreamReader):
    """An offset is the number of a batch, and the files in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def initialOffset(self) -> Offset:  # noqa: N802
        return {"batch": 0, "files": []}

    def read(self, start: Offset) -> tuple[Iterator[tuple[str]], Offset]:
        """The batch after another one; the same offset if nothing waits."""
        files = [str(path) for path in inbox.waiting(self._folder, MOST_FILES)]
        if not files:
            return iter(()), start
        return _rows(files), {"batch": start["batch"] + 1, "files": files}

    def readBetweenOffsets(self, start: Offset, end: Offset) -> Iterator[tuple[str]]:  # noqa: N802
        """A batch again, after a crash."""
        del start
        return _rows(end["files"])


def _rows(files: list[str]) -> Iterator[tuple[str]]:
    return iter([(file,) for file in files])  # of a list, because Spark copies the iterator
