"""Python at work on a table, in Arrow batches: rows in, rows out, with the exact types that a schema states."""

import gc
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

Row = dict[str, Any]
"""One row of a table, by the names of its columns."""

LARGEST = 1000
"""Rows to a batch on the way out: large enough for Arrow, small enough for memory."""


def map_rows(table: DataFrame, work: Callable[[Iterator[Row]], Iterable[Row]], schema: pa.Schema) -> DataFrame:
    """A table of what the work makes of the rows of each partition, one after the other."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from pack(work(unpack(batches)), schema)
        _settle_memory()

    return table.mapInArrow(run, from_arrow_schema(schema))


def map_groups(
    table: DataFrame, by: tuple[str, ...], work: Callable[[list[Row]], Iterable[Row]], schema: pa.Schema
) -> DataFrame:
    """A table of what the work makes of the rows that agree in some columns."""

    def run(group: pa.Table) -> pa.Table:
        made = pa.Table.from_pylist(list(work(group.to_pylist())), schema)
        _settle_memory()
        return made

    return table.groupBy(*by).applyInArrow(run, from_arrow_schema(schema))


def map_pairs(
    left: DataFrame,
    right: DataFrame,
    by: str,
    work: Callable[[list[Row], list[Row]], Iterable[Row]],
    schema: pa.Schema,
) -> DataFrame:
    """A table of what the work makes of the rows of two tables that agree in a column."""

    def run(one: pa.Table, other: pa.Table) -> pa.Table:
        made = pa.Table.from_pylist(list(work(one.to_pylist(), other.to_pylist())), schema)
        _settle_memory()
        return made

    return left.groupBy(by).cogroup(right.groupBy(by)).applyInArrow(run, from_arrow_schema(schema))


@cache
def _settle_memory() -> None:
    """Take what the first work of this process has loaded for permanent.

    Spark looks for garbage after every task, and would look through all modules each time: 40 ms of processor.
    """
    gc.freeze()


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """The rows of batches."""
    for batch in batches:
        yield from batch.to_pylist()


def pack(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as batches."""
    waiting: list[Row] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == LARGEST:
            yield pa.RecordBatch.from_pylist(waiting, schema)
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema)
