"""Dead letters: what could not be read, planned or given to everyone; a folder to each, with the reason."""

import filecmp
import itertools
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from polycast.home import Home, written
from polycast.model import codec
from polycast.pipeline.batches import Row, map_rows
from polycast.pipeline.bill import Failure
from polycast.pipeline.site import Site

VERSION = 1
REASON, EVENT = "reason.json", "event.json"
BURIED = pa.schema([("file", pa.string()), ("error", pa.string())])


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a publication ended here.

    Parameters
    ----------
    error
        What is wrong with all of it; None if only some subscribers went without.
    failed
        Who went without, and why.
    """

    file: str
    error: str | None = None
    failed: tuple[Failure, ...] = ()
    version: int = VERSION


def bury(faulty: DataFrame, site: Site) -> DataFrame:
    """Move publications that have an error out of the inbox."""
    return map_rows(faulty.select("file", "error"), partial(_buried, site.home), BURIED)


def _buried(home: Home, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        file = Path(row["file"])
        keep(home, Reason(file=file.name, error=row["error"]), file)
        file.unlink(missing_ok=True)
        yield row


def keep(home: Home, reason: Reason, event: Path) -> None:
    """Keep a dead letter: a copy of its event, and the reason."""
    folder = _folder(home, event)
    if event.exists():
        with written(folder / EVENT, home.scratch, lasting=True) as out, event.open("rb") as file:
            shutil.copyfileobj(file, out)
    with written(folder / REASON, home.scratch, lasting=True) as out:
        out.write(codec.encode(reason))


def _folder(home: Home, event: Path) -> Path:
    """Its own for each event: another one of the same name may have ended here before."""
    for number in itertools.count():
        folder = home.dead_letters / (f"{event.stem}-{number}" if number else event.stem)
        kept = folder / EVENT
        if not (kept.exists() and event.exists()) or filecmp.cmp(kept, event, shallow=False):
            return folder
    raise AssertionError("there is always another number")
