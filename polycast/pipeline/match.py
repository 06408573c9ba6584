"""Match: which subscriptions want a publication."""

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from polycast.convert.store import ContentStore
from polycast.interest.index import MatchIndex
from polycast.pipeline.batches import Row, map_rows
from polycast.pipeline.ingest import REFERENCE
from polycast.pipeline.site import Site

MATCHED = pa.schema(
    [
        ("file", pa.string()),
        ("key", pa.string()),
        ("attributes", pa.string()),
        ("content", REFERENCE),
        ("files", pa.list_(pa.string())),
        ("matches", pa.list_(pa.string())),
        ("error", pa.string()),
    ]
)


def match(publications: DataFrame, site: Site) -> DataFrame:
    """Publications with the users who want each."""
    return map_rows(publications, partial(_matched, site), MATCHED)


def one_of_each(matched: DataFrame) -> DataFrame:
    """A row to each publication: of files with one source and id, the first by name, which knows of all."""
    first = f.min_by(f.struct(*matched.drop("files").columns), "file").alias("first")
    files = f.sort_array(f.collect_set("file")).alias("files")
    return matched.groupBy("key").agg(first, files).select("first.*", "files").select(*matched.columns)


def _matched(site: Site, rows: Iterable[Row]) -> Iterator[Row]:
    index = _index(site.index)
    for row in rows:
        matches = None if row["error"] else index.match(_seen_by_filters(row, site.store))
        yield row | {"files": [row["file"]], "matches": matches}


@lru_cache(maxsize=1)
def _index(folder: Path) -> MatchIndex:
    """The index of the network's subscriptions, opened once in a worker; all that open it share its memory."""
    return MatchIndex.open(folder)


def _seen_by_filters(row: Row, store: ContentStore) -> dict[str, Any]:
    data = None if row["payload"] is None else msgspec.json.decode(store.get(row["payload"]))
    return {**msgspec.json.decode(row["attributes"]), "data": data}
