"""Data: JSON, CSV, Parquet and Arrow among each other (pyarrow). JSON is a list of records, or a record a line."""

import json
import math
from collections.abc import Callable, Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from polycast.convert import media
from polycast.convert.task import Limits, Task
from polycast.errors import Refused, TooLarge, Unreadable

ROWS_AT_ONCE = 10_000


def convert(task: Task) -> None:
    """Read the table once, and write it in every form that is wanted."""
    pa.set_cpu_count(task.limits.threads)
    table = read(task.content, media.essence(task.source), task.limits)
    for done, output in enumerate(task.outputs, start=1):
        kind = media.essence(output.format)
        try:
            WRITERS[kind](table, output.path)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise Refused(f"this table has no form as {kind}: {_line(error)}") from None
        task.progress(done / len(task.outputs))


def read(content: Path, kind: str, limits: Limits) -> pa.Table:
    """A table, checked as far as its kind announces its size before it is unpacked."""
    try:
        return READERS[kind](content, limits)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, RecursionError, OSError) as error:
        raise Unreadable(f"cannot be read as {kind}: {_line(error)}") from None


def _read_json(content: Path, limits: Limits) -> pa.Table:
    del limits
    with content.open("rb") as file:
        first = file.read(1 << 12).lstrip()[:1]
    if first != b"[":
        return pyarrow.json.read_json(content)
    records = json.loads(content.read_bytes())
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("a list of something other than records")
    if not records:
        return pa.table({})
    # By way of lines: pyarrow loads pandas before it makes a table of Python's own objects, which takes a while.
    lines = "\n".join(json.dumps(record) for record in records)
    return pyarrow.json.read_json(pa.BufferReader(lines.encode()))


def _read_csv(content: Path, limits: Limits) -> pa.Table:
    del limits
    return pyarrow.csv.read_csv(content)


def _read_parquet(content: Path, limits: Limits) -> pa.Table:
    with pyarrow.parquet.ParquetFile(content) as file:
        groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
        unpacked = sum(group.total_byte_size for group in groups)
        if unpacked > limits.memory:
            raise TooLarge(f"{unpacked} bytes unpacked are more than {limits.memory}")
        return file.read()


def _read_arrow(content: Path, limits: Limits) -> pa.Table:
    del limits
    with pyarrow.ipc.open_file(content) as file:
        table = file.read_all()
    table.validate(full=True)
    return table


def _write_json(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        out.write("[")
        for number, record in enumerate(_records(table)):
            out.write((",\n" if number else "") + json.dumps(_plain(record), ensure_ascii=False))
        out.write("]\n")


def _records(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _plain(value: Any) -> Any:
    """What JSON can say of a value: times and decimals as text, what is not a number as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        raise Refused("this table has no form as JSON: a column of bytes")
    if isinstance(value, date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _write_csv(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(table, path)


def _write_parquet(table: pa.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _write_arrow(table: pa.Table, path: Path) -> None:
    with pyarrow.ipc.new_file(path, table.schema) as out:
        out.write_table(table)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


READERS: dict[str, Callable[[Path, Limits], pa.Table]] = {
    media.JSON: _read_json,
    media.CSV: _read_csv,
    media.PARQUET: _read_parquet,
    media.ARROW: _read_arrow,
}
WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    media.JSON: _write_json,
    media.CSV: _write_csv,
    media.PARQUET: _write_parquet,
    media.ARROW: _write_arrow,
}
