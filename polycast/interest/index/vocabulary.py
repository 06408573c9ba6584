"""Everything that subscriptions read of an event, each reading once, and what an event says to all of them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from polycast.interest.cesql import Expression, Failure, Program
from polycast.interest.cesql.closures import Compute
from polycast.interest.cesql.expression import Step
from polycast.interest.index.readings import LIKE, TEXTUAL, Key, Reader, reader
from polycast.model.scalar import scalar

ERROR, FALSE, UNKNOWN = -2, -1, -3
"""In place of a key's rank: every question is an error, or false, or not yet answered for this event."""

EAGER_USES = 8  # what is used less often is read only for candidates
EAGER_SHARE = 500  # and what is used by fewer than one subscription in so many


class Reading(NamedTuple):
    """A way to read the value of a term: of an attribute, or of any part of an expression.

    Attributes
    ----------
    name
        The attribute; empty where the term is another.
    steps
        The term, where it is no attribute.
    """

    way: str
    name: str
    steps: tuple[Step, ...] = ()
    strict: bool = False


class Sight(NamedTuple):
    """What an event says to readings: which are false, which read a number, and which a text.

    A number is the nearest decimal and the sign of the rest, so that integers beyond 2^53 keep their order.
    """

    false: NDArray[np.int32]
    numeric: NDArray[np.int32]
    numbers: NDArray[np.float64]
    rests: NDArray[np.int8]
    textual: NDArray[np.int32]
    text_ends: NDArray[np.int64]
    texts: NDArray[np.uint8]


class Vocabulary:
    """Readings by number. It only grows; the numbers of readings stay."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.uses: list[int] = []
        self._ids: dict[object, int] = {}
        self._attributes: dict[str, list[tuple[int, Reader]]] = {}
        self._existences: dict[str, int] = {}
        self._terms: dict[int, tuple[Compute, Reader]] = {}
        self._eager_terms: list[int] = []
        self.defaults = np.empty(0, np.int32)

    @classmethod
    def of(cls, readings: Iterable[Reading], uses: Iterable[int], eager: Iterable[int]) -> Self:
        """Readings, how often each is used, and which are eager, as another vocabulary had them."""
        vocabulary = cls()
        for reading in readings:
            vocabulary._add(reading)
        vocabulary.uses = list(uses)
        vocabulary._know_all()
        for id in eager:
            vocabulary._read_eagerly(id)
        return vocabulary

    @property
    def is_eager(self) -> NDArray[np.bool_]:
        """Which readings every event is read in."""
        return np.not_equal(self.defaults, UNKNOWN)

    def attribute(self, name: str, way: str) -> int:
        """The reading of an attribute, as the superset sees it."""
        id = self._ids.get((name, way))
        return self._add(Reading(way, name)) if id is None else id

    def term(self, steps: tuple[Step, ...], strict: bool, way: str) -> int:
        """The reading of a part of an expression."""
        [kind, detail], single = steps[0], len(steps) == 1
        if single and kind == "attr" and not strict:
            return self.attribute(detail, way)
        # Steps are told apart by their text: 1, 1.0 and TRUE are equal, and not the same.
        id = self._ids.get((repr(steps), strict, way))
        return self._add(Reading(way, "", steps, strict)) if id is None else id

    def settle(self, uses: NDArray[np.int64], subscriptions: int) -> None:
        """Count what new subscriptions use, and read eagerly from now on what is used often."""
        self._know_all()
        counts = np.asarray(self.uses, np.int64) + uses
        self.uses = counts.tolist()
        for id in np.flatnonzero((counts > 0) & (self.defaults == UNKNOWN)).tolist():
            if _is_cheap(self.readings[id]) or counts[id] >= max(EAGER_USES, subscriptions // EAGER_SHARE):
                self._read_eagerly(id)

    def look(self, attributes: Mapping[str, Any]) -> Sight:
        """Read an event in every eager way."""
        seen = _Seen()
        known, existences = self._attributes, self._existences
        for name, raw in attributes.items():
            readers = known.get(name)
            if raw is None or (readers is None and name not in existences):
                continue
            if name in existences:
                seen.take(existences[name], 1)
            value = raw if raw.__class__ is str else scalar(raw)
            if value is not None:
                for id, read in readers or ():
                    seen.take(id, read(value))
        for id in self._eager_terms:
            seen.take(id, self._read_term(id, attributes))
        return seen.sight()

    def look_closer(self, attributes: Mapping[str, Any], wanted: Iterable[int]) -> Sight:
        """Read an event in the ways that are named."""
        seen = _Seen()
        for id in wanted:
            seen.take(id, self._read_term(id, attributes))
        return seen.sight()

    def _read_term(self, id: int, attributes: Mapping[str, Any]) -> Key:
        if id not in self._terms:
            reading = self.readings[id]
            steps: tuple[Step, ...] = reading.steps or (("attr", reading.name),)
            self._terms[id] = Program(Expression(steps, reading.strict)).compute, reader(reading.way)
        compute, read = self._terms[id]
        try:
            return read(compute(attributes))
        except Failure:
            return None

    def _add(self, reading: Reading) -> int:
        id = len(self.readings)
        self.readings.append(reading)
        self.uses.append(0)
        if reading.name:
            self._ids[reading.name, reading.way] = id
        else:
            self._ids[repr(reading.steps), reading.strict, reading.way] = id
        return id

    def _know_all(self) -> None:
        new = len(self.readings) - len(self.defaults)
        self.defaults = np.concatenate((self.defaults, np.full(new, UNKNOWN, np.int32)))

    def _read_eagerly(self, id: int) -> None:
        reading = self.readings[id]
        self.defaults[id] = ERROR
        if reading.way == "exists":
            self.defaults[id] = FALSE
            self._existences[reading.name] = id
        elif _is_cheap(reading):
            self._attributes.setdefault(reading.name, []).append((id, reader(reading.way)))
        else:
            self._eager_terms.append(id)


class _Seen:
    """What has been seen of an event so far."""

    def __init__(self) -> None:
        self.false: list[int] = []
        self.numeric: list[int] = []
        self.numbers: list[float] = []
        self.rests: list[int] = []
        self.textual: list[int] = []
        self.texts: list[bytes] = []

    def take(self, id: int, key: Key) -> None:
        kind = key.__class__
        if kind is bytes:
            self.textual.append(id)
            self.texts.append(key)  # type: ignore[arg-type]
        elif kind is bool:
            self.false.append(id)
        elif key is None:
            self.take_error(id)
        else:
            self.numeric.append(id)
            self.take_number(key)  # type: ignore[arg-type]

    def take_number(self, key: int | float) -> None:
        near = float(key)
        self.numbers.append(near)
        rest = 0
        if isinstance(key, int) and not -(1 << 53) <= key <= 1 << 53:
            rest = (key > int(near)) - (key < int(near))
        self.rests.append(rest)

    def take_error(self, id: int) -> None:
        """An error is written as a number that is none."""
        self.numeric.append(id)
        self.numbers.append(float("nan"))
        self.rests.append(0)

    def sight(self) -> Sight:
        return Sight(
            np.array(self.false, np.int32),
            np.array(self.numeric, np.int32),
            np.array(self.numbers, np.float64),
            np.array(self.rests, np.int8),
            np.array(self.textual, np.int32),
            np.cumsum([0, *map(len, self.texts)]),
            np.frombuffer(b"".join(self.texts), np.uint8),
        )


def is_textual(reading: Reading) -> bool:
    """Whether the keys are texts."""
    return reading.way in TEXTUAL


def _is_cheap(reading: Reading) -> bool:
    """Whether every event is read in this way anyhow: a look at one attribute."""
    return bool(reading.name) and not reading.way.startswith(LIKE)
