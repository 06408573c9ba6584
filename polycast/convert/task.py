"""What a conversion is asked to do: the content, the forms wanted of it, and the limits it must keep."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from polycast.errors import BadInput
from polycast.model.format import Format


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much one run may take. Every limit has a default, and can be set.

    Parameters
    ----------
    wall, cpu
        Seconds by the clock, and seconds of processor time of the tool and its children.
    memory, input, output
        Bytes of memory of one process, of the content, and of all that the run writes.
    files, processes
        Open files, and processes at one time.
    pixels, pages, duration, frames, streams
        What the content may announce: pixels of one picture, pages, seconds of media, frames, tracks.
    threads
        Threads that a tool may use.
    """

    wall: float = 300.0
    cpu: float = 600.0
    memory: int = 2 << 30
    input: int = 2 << 30
    output: int = 1 << 30
    files: int = 128
    processes: int = 64
    pixels: int = 100_000_000
    pages: int = 2_000
    duration: float = 4 * 3600.0
    frames: int = 1_000_000
    streams: int = 16
    threads: int = 1

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not getattr(self, name) > 0:
                raise BadInput(f"limits.{name}", f"{getattr(self, name)} is not a limit above 0")


_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def read_limits(settings: Iterable[str]) -> Limits:
    """Limits as a user states them, ``name=value``, where a value may end in K, M or G."""
    stated = dict(_read_limit(setting) for setting in settings)
    try:
        return msgspec.convert(stated, Limits)
    except msgspec.ValidationError as error:
        raise BadInput("limit", str(error)) from None


def _read_limit(setting: str) -> tuple[str, float]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise BadInput("limit", f'"{setting}" is not a limit, as in wall=60 or memory=4G')
    if name not in Limits.__struct_fields__:
        raise BadInput("limit", f'none is called "{name}"; the limits are {", ".join(Limits.__struct_fields__)}')
    number = quantity(value, "limit")
    return name, int(number) if number.is_integer() else number


def quantity(text: str, where: str) -> float:
    """A number as a user states it, which may end in K, M or G."""
    factor = _FACTORS.get(text[-1:].upper(), 1)
    try:
        number = float(text if factor == 1 else text[:-1]) * factor
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise BadInput(where, f'"{text}" is not a number, as in 60 or 4G')
    return number


class Output(NamedTuple):
    """One form that the run must make, and the file to write it to."""

    format: Format
    path: Path


class Task(NamedTuple):
    """What a tool is given: it reads ``content`` once and writes every output."""

    content: Path
    source: Format
    outputs: tuple[Output, ...]
    limits: Limits
    progress: Callable[[float], None]
    """To be told now and then which share of the work is done, from 0 to 1."""
