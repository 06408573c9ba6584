"""The programs of many subscriptions: their instructions in one array, in the order in which they were added."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.dictionary import Dictionary, Renaming, dictionary_of, places, united
from polycast.interest.index.names import Names, names_of, texts_of
from polycast.interest.index.normal_form import HIGHEST, NormalForm
from polycast.interest.index.vocabulary import Vocabulary, is_textual
from polycast.kernel import kernel


class Programs(NamedTuple):
    """Programs by number.

    Attributes
    ----------
    code
        Instructions as in ``normal_form``; bounds are ranks among ``keys``.
    ends
        Where in ``code`` each program ends.
    """

    code: NDArray[np.int32]
    ends: NDArray[np.int64]
    keys: Dictionary
    names: Names


class Alive(NamedTuple):
    """Programs, and which of them have been removed."""

    programs: Programs
    dead: NDArray[np.uint8]


def written(
    form: NormalForm, code: NDArray[np.int32], ends: NDArray[np.int64], names: Sequence[bytes]
) -> Programs:
    """Programs as they come from the normal form, whose keys are in no order."""
    textual = [is_textual(reading) for reading in form.vocabulary.readings]
    number_owners, text_owners = [[id for id in form.keys if textual[id] is kind] for kind in (False, True)]
    numbers = np.array([key for id in number_owners for key in form.keys[id]], np.float64)
    texts = [key for id in text_owners for key in form.keys[id] if isinstance(key, bytes)]
    counts = np.zeros(len(textual), np.int64)
    for id, known in form.keys.items():
        counts[id] = len(known)
    keys, number_names, text_names = dictionary_of(
        textual,
        (np.repeat(np.array(number_owners, np.int64), counts[number_owners]), numbers),
        (np.repeat(np.array(text_owners, np.int64), counts[text_owners]), texts),
    )
    order = np.array(number_owners + text_owners, np.int64)
    first = np.zeros(len(textual), np.int64)
    first[order] = np.cumsum(counts[order]) - counts[order]
    _rename(code, first, np.concatenate((number_names, text_names)))
    return Programs(code, ends, keys, names_of(names))


def merged(parts: Sequence[Alive], vocabulary: Vocabulary) -> Programs:
    """What is alive of several, one after the other."""
    used = [
        _used(programs.code, programs.ends, dead, places(programs.keys), _keys(programs))
        for programs, dead in parts
    ]
    textual = [is_textual(reading) for reading in vocabulary.readings]
    keys, renamings = united([_widened(programs.keys, textual) for programs, _ in parts], used, textual)
    pieces = [_renamed(part, renaming) for part, renaming in zip(parts, renamings, strict=True)]
    code = np.concatenate([code for code, _ in pieces])
    lengths = np.concatenate([np.diff(ends) for _, ends in pieces])
    names = [text for programs, dead in parts for text in texts_of(programs.names, np.flatnonzero(dead == 0))]
    return Programs(code, np.concatenate(([0], np.cumsum(lengths))), keys, names_of(names))


def uses(programs: Programs, readings: int) -> NDArray[np.int64]:
    """How often each reading is used."""
    operators = programs.code[:, 0]
    return np.bincount(operators[operators >= 0], minlength=readings)


def cumulated(programs: Programs) -> NDArray[np.int64]:
    """How often keys are used, all up to each; readings are counted through as in ``places``."""
    counts = np.zeros(_keys(programs) + 1, np.int64)
    _count(programs.code, places(programs.keys), counts[1:])
    return np.cumsum(counts)


def _keys(programs: Programs) -> int:
    return len(programs.keys.numbers) + len(programs.keys.text_ends) - 1


def _widened(keys: Dictionary, textual: Sequence[bool]) -> Dictionary:
    """A dictionary that knows of all readings there are by now."""
    more = np.zeros(len(textual) - len(keys.first), np.int64)
    return keys._replace(
        textual=np.array(textual, bool),
        first=np.concatenate((keys.first, more)),
        counts=np.concatenate((keys.counts, more)),
    )


def _renamed(part: Alive, renaming: Renaming) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    code, ends = _living(part.programs.code, part.programs.ends, part.dead)
    _rename(code, *renaming)
    return code, ends


@kernel
def _living(
    code: NDArray[np.int32], ends: NDArray[np.int64], dead: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    count = size = 0
    for i in range(len(dead)):
        if not dead[i]:
            count += 1
            size += ends[i + 1] - ends[i]
    kept, kept_ends = np.empty((size, 3), np.int32), np.zeros(count + 1, np.int64)
    count = size = 0
    for i in range(len(dead)):
        if not dead[i]:
            length = ends[i + 1] - ends[i]
            kept[size : size + length] = code[ends[i] : ends[i + 1]]
            size += length
            count += 1
            kept_ends[count] = size
    return kept, kept_ends


@kernel
def _rename(code: NDArray[np.int32], first: NDArray[np.int64], names: NDArray[np.int64]) -> None:
    """Bounds among other keys: ``2k+1`` is a key, an even lower bound lies above one, an even higher one below."""
    for at in range(len(code)):
        if code[at, 0] >= 0:
            start = first[code[at, 0]]
            low, high = code[at, 1], code[at, 2]
            if low & 1:
                code[at, 1] = 2 * names[start + (low >> 1)] + 1
            elif low:
                code[at, 1] = 2 * names[start + (low >> 1) - 1] + 2
            if high & 1 and high != HIGHEST:
                code[at, 2] = 2 * names[start + (high >> 1)] + 1
            elif high != HIGHEST:
                code[at, 2] = 2 * names[start + (high >> 1)]


@kernel
def _count(code: NDArray[np.int32], first: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    for at in range(len(code)):
        if code[at, 0] >= 0:
            start = first[code[at, 0]]
            low, high = code[at, 1], code[at, 2]
            if low > 0:
                counts[start + ((low - 1) >> 1)] += 1
            if high != HIGHEST and (low == 0 or high >> 1 != (low - 1) >> 1):
                counts[start + (high >> 1)] += 1


@kernel
def _used(
    code: NDArray[np.int32], ends: NDArray[np.int64], dead: NDArray[np.uint8], first: NDArray[np.int64], keys: int
) -> NDArray[np.bool_]:
    """Which keys occur in what is alive."""
    counts = np.zeros(keys, np.int64)
    for i in range(len(dead)):
        if not dead[i]:
            _count(code[ends[i] : ends[i + 1]], first, counts)
    return counts > 0
