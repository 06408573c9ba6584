"""Match: which subscriptions want a publication."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from polycast.interest import dialects
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
        ("matches", pa.list_(pa.string())),
        ("error", pa.string()),
    ]
)

Matcher = Callable[[Mapping[str, Any]], list[str]]
"""The names of the users who want an event with these attributes (the payload is ``data``)."""


def match(publications: DataFrame, site: Site) -> DataFrame:
    """Publications with the users who want each."""
    return map_rows(publications, partial(_matched, site), MATCHED)


def _matched(site: Site, rows: Iterable[Row]) -> Iterator[Row]:
    wanted_by = matcher(site)
    for row in rows:
        yield row if row["error"] else row | {"matches": wanted_by(_seen_by_filters(row))}


@lru_cache(maxsize=1)
def matcher(site: Site) -> Matcher:
    """The network's subscriptions, made ready once in a worker."""
    return MatchIndex.of(
        (user.name, dialects.subscription_expression(user.subscription)) for user in site.network.users
    ).match


def _seen_by_filters(row: Row) -> dict[str, Any]:
    data = None if row["data"] is None else msgspec.json.decode(row["data"])
    return {**msgspec.json.decode(row["attributes"]), "data": data}
