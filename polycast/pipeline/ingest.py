"""Ingest: read the events of the inbox, and put their contents into the store at once; rows carry references."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from polycast.convert.store import ContentStore
from polycast.errors import PolycastError
from polycast.model import codec
from polycast.model.publication import Event
from polycast.pipeline import bill, inbox
from polycast.pipeline.batches import Row, map_rows
from polycast.pipeline.site import Site

REFERENCE = pa.struct([("digest", pa.string()), ("size", pa.int64()), ("media_type", pa.string())])
INGESTED = pa.schema(
    [
        ("file", pa.string()),
        ("key", pa.string()),
        ("attributes", pa.string()),
        ("content", REFERENCE),
        ("payload", pa.string()),
        ("error", pa.string()),
    ]
)


def table_of(spark: SparkSession, files: Sequence[Path | str]) -> DataFrame:
    """Files of the inbox as a table; what is in them is not read here.

    Spark learns that a single file is in one piece, and then has nothing to exchange between stages.
    """
    table = spark.createDataFrame(pa.table({"file": pa.array(map(str, files), pa.string())}))
    return table.coalesce(1) if len(files) == 1 else table


def ingest(files: DataFrame, site: Site) -> DataFrame:
    """Publications, one to a file; ``error`` says why a file holds none.

    What has been dealt with already, under the same source and id, is set aside: it came twice, or a crash came
    between the last delivery and the clearing of the inbox.
    """
    return map_rows(files, partial(_ingested, site), INGESTED)


def _ingested(site: Site, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        file = Path(row["file"])
        try:
            publication = _publication(site, file)
        except OSError as error:
            if not file.exists():
                continue  # a run that was killed had dealt with it
            if not (error.filename and Path(error.filename).resolve().is_relative_to(file.parent.resolve())):
                raise  # it is not the publication that is at fault
            publication = _fault(file, f"{Path(error.filename).name}: {error.strerror}")
        if publication is not None:
            yield publication


def _publication(site: Site, file: Path) -> Row | None:
    """What a file holds; None if that has been dealt with."""
    try:
        event = inbox.read(file)
        if bill.is_settled(site.home, event.key):
            inbox.settle(file, site.home.archive)
            return None
        content, media_type = inbox.announced(event, file.parent)
    except PolycastError as error:
        return _fault(file, str(error))
    store = site.store  # if that cannot be written, it is nobody's fault
    digest = store.put(content)
    return {
        "file": str(file),
        "key": event.key,
        "attributes": codec.encode(event.attributes).decode(),
        "content": {"digest": digest, "size": store.size(digest), "media_type": media_type},
        "payload": _payload(event, content, digest, store),
    }


def _payload(event: Event, content: Path | bytes, digest: str, store: ContentStore) -> str | None:
    """Where filters find what they may look into: the payload in JSON, which often is the content itself."""
    if event.data is None or isinstance(event.data, bytes):
        return None
    payload = codec.encode(event.data)
    return digest if payload == content else store.put(payload)


def _fault(file: Path, reason: str) -> Row:
    return {"file": str(file), "key": file.name, "error": reason}
