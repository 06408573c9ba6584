"""The tables inside a README, written from what runs have measured; the words around them are written by hand."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """The text with every table anew; its place is between ``<!-- table: its name -->`` and ``<!-- end -->``."""

    def anew(place: re.Match[str]) -> str:
        start, name, old, end = place.groups()
        return start + tables.get(name, old) + end

    return re.sub(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->)", anew, text, flags=re.DOTALL)


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table as Markdown."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


def cells(
    rows: Iterable[Mapping[str, Any]], column: str, values: Iterable[Any], cell: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    """A cell for each value of a column, empty where nothing was run."""
    found = {row[column]: cell(row) for row in rows}
    return [found.get(value, "") for value in values]


def plus_minus(row: Mapping[str, Any], measure: str, digits: int, sign: str = "") -> str:
    """A mean and half its interval, which a single run does not have."""
    mean, half = f"{row[measure]:{sign}z.{digits}f}", row[f"{measure} ±"]
    return mean if math.isnan(half) else f"{mean} ± {half:.{digits}f}"
