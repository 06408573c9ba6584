"""An index in a folder: one file of arrays, which all processes map into memory, and one that says what is where.

The arrays of a new save lie in a file of their own until ``index.json``, replaced in one step, points to them. So
a save that is broken off leaves the old index, and whoever has mapped the old arrays keeps them.
"""

import json
import mmap
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from polycast.errors import BadInput
from polycast.interest.index.bitmaps import Bitmaps, Grids
from polycast.interest.index.clusters import Clusters
from polycast.interest.index.dictionary import Dictionary
from polycast.interest.index.level import Level
from polycast.interest.index.names import Names
from polycast.interest.index.programs import Programs
from polycast.interest.index.vocabulary import Reading, Vocabulary

VERSION = 2
HEAD = "index.json"

SAMPLES, PAGE = 64, 4096  # parts of the arrays that are checked when an index is opened, and their size

_ALIGNMENT = 64
_Place = tuple[str, list[int], int]
"""Of an array: the type of its items, its shape, and where in the file it begins."""


def save(folder: Path, vocabulary: Vocabulary, levels: Sequence[Level]) -> None:
    """Write an index; what was there before stays until all is written."""
    name = f"arrays-{uuid.uuid4().hex}.bin"
    arrays, head = folder / name, folder / f"{name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        head.touch()
        with arrays.open("w+b") as file:
            places = [[_write(file, array) for array in _arrays(level)] for level in levels]
            _reach_the_disk(file)
            body = {"arrays": name, "size": file.tell(), "sample": _sample(file), "levels": places}
        body["deepest"] = [level.deepest for level in levels]
        body["readings"], body["uses"] = vocabulary.readings, vocabulary.uses
        body["eager"] = np.flatnonzero(vocabulary.is_eager).tolist()
        text = json.dumps(body)
        with head.open("w") as head_file:
            json.dump({"version": VERSION, "checksum": crc32(text.encode()), "index": text}, head_file)
            _reach_the_disk(head_file)
        head.replace(folder / HEAD)
    except BaseException as fault:
        if head.exists():  # it has not taken its place yet
            arrays.unlink(missing_ok=True)
            head.unlink()
        if isinstance(fault, OSError):
            raise BadInput(str(folder), f"cannot be written: {fault.strerror}") from None
        raise
    for old in folder.glob("arrays-*"):
        if old.name != name:
            old.unlink(missing_ok=True)


def open(folder: Path) -> tuple[Vocabulary, list[Level]]:
    """The index in a folder. Its arrays are mapped: read as they are needed, and shared until written to."""
    body = _head(folder)
    with _opened(folder / body["arrays"], str(folder)) as file:
        if os.fstat(file.fileno()).st_size != body["size"]:
            _damaged(folder, f"{body['arrays']} is not as long as it was written")
        if _sample(file) != body["sample"]:
            _damaged(folder, f"{body['arrays']} is not as it was written")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if body["size"] else b""
    vocabulary = Vocabulary.of(map(_reading, body["readings"]), body["uses"], body["eager"])
    levels = [
        _level([_array(mapped, *place) for place in places], deepest)
        for places, deepest in zip(body["levels"], body["deepest"], strict=True)
    ]
    return vocabulary, levels


def _head(folder: Path) -> dict[str, Any]:
    with _opened(folder / HEAD, str(folder)) as file:
        text = file.read()
    try:
        head = json.loads(text)
        version, checksum, index = head["version"], head.get("checksum"), head.get("index")
    except (ValueError, KeyError, TypeError, AttributeError):
        _damaged(folder, f"{HEAD} cannot be read")
    if version != VERSION:
        raise BadInput(str(folder), f"an index of version {version}; this Polycast reads version {VERSION}")
    if not isinstance(index, str) or crc32(index.encode()) != checksum:
        _damaged(folder, f"{HEAD} is not as it was written")
    body: dict[str, Any] = json.loads(index)
    return body


def _opened(path: Path, folder: str) -> IO[bytes]:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise BadInput(folder, f"holds no match index: {path.name} is not there") from None
    except OSError as fault:
        raise BadInput(folder, f"{path.name} cannot be read: {fault.strerror}") from None


def _damaged(folder: Path, why: str) -> NoReturn:
    raise BadInput(str(folder), f"a damaged match index: {why}; save it anew")


def _sample(file: IO[bytes]) -> int:
    """A checksum of some pages, spread over the file: opening must not read them all."""
    size = os.fstat(file.fileno()).st_size
    digest = 0
    for start in range(0, size, max(size // SAMPLES, PAGE)):
        file.seek(start)
        digest = crc32(file.read(PAGE), digest)
    return digest


def _reach_the_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _write(file: IO[bytes], array: NDArray[Any]) -> _Place:
    file.write(bytes(-file.tell() % _ALIGNMENT))
    start = file.tell()
    file.write(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
    return array.dtype.str, list(array.shape), start


def _array(mapped: mmap.mmap | bytes, kind: str, shape: list[int], start: int) -> NDArray[Any]:
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, kind)
    return np.frombuffer(mapped, kind, count, start).reshape(shape)


def _arrays(level: Level) -> Iterator[NDArray[Any]]:
    """The arrays of a level, in the order in which ``_level`` takes them."""
    code, ends, keys, names = level.programs
    yield from (level.dead, code, ends, *keys, *names, *level.clusters.grids, *level.clusters[1:], *level.bitmaps)


def _level(arrays: list[NDArray[Any]], deepest: int) -> Level:
    dead, code, ends = arrays[:3]
    keys, rest = Dictionary(*arrays[3 : 3 + len(Dictionary._fields)]), arrays[3 + len(Dictionary._fields) :]
    names, rest = Names(*rest[: len(Names._fields)]), rest[len(Names._fields) :]
    grids, rest = Grids(*rest[: len(Grids._fields)]), rest[len(Grids._fields) :]
    clusters, bitmaps = Clusters(grids, *rest[:2]), Bitmaps(*rest[2:])
    return Level(Programs(code, ends, keys, names), clusters, bitmaps, dead, deepest)


def _reading(written: list[Any]) -> Reading:
    way, name, steps, strict = written
    return Reading(
        way,
        name,
        tuple((kind, tuple(detail) if isinstance(detail, list) else detail) for kind, detail in steps),
        strict,
    )
