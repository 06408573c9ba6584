"""The keys that subscriptions compare with, sorted, for each reading; an event's key becomes a rank among them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.vocabulary import ERROR, FALSE, Sight
from polycast.kernel import kernel


class Dictionary(NamedTuple):
    """Sorted keys of every reading. Rank ``2k+1`` is the key ``k``; even ranks lie between keys.

    Attributes
    ----------
    textual
        Whether a reading's keys are texts, or else numbers.
    first, counts
        Which of ``numbers``, or of the texts, are a reading's.
    """

    textual: NDArray[np.bool_]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    text_ends: NDArray[np.int64]
    texts: NDArray[np.uint8]


Renaming = tuple[NDArray[np.int64], NDArray[np.int64]]
"""From the keys of an old dictionary to those of a new one: where each reading's begin, and each one's number."""


def dictionary_of(
    readings: Sequence[bool],
    numbers: tuple[NDArray[np.int64], NDArray[np.float64]],
    texts: tuple[NDArray[np.int64], list[bytes]],
) -> tuple[Dictionary, NDArray[np.int64], NDArray[np.int64]]:
    """Sort keys, given with the reading of each: the dictionary, and each one's number within its reading.

    Parameters
    ----------
    readings
        Which have texts.
    """
    textual = np.array(readings, bool)
    count = len(textual)
    owners, values, number_places = _distinct_numbers(*numbers)
    text_owners, distinct, text_places = _distinct_texts(*texts)
    number_counts, text_counts = np.bincount(owners, minlength=count), np.bincount(text_owners, minlength=count)
    number_first, text_first = np.cumsum(number_counts) - number_counts, np.cumsum(text_counts) - text_counts
    keys = Dictionary(
        textual,
        np.where(textual, text_first, number_first),
        np.where(textual, text_counts, number_counts),
        values,
        np.cumsum([0, *map(len, distinct)]),
        np.frombuffer(bytearray(b"".join(distinct)), np.uint8),
    )
    return keys, number_places - number_first[numbers[0]], text_places - text_first[texts[0]]


def _distinct_numbers(
    owners: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    order = np.lexsort((values, owners))
    owners, values = owners[order], values[order]
    new = np.ones(len(values), bool)
    new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    places = np.empty(len(values), np.int64)
    places[order] = np.cumsum(new) - 1
    return owners[new], values[new], places


def _distinct_texts(
    owners: NDArray[np.int64], texts: list[bytes]
) -> tuple[NDArray[np.int64], list[bytes], NDArray[np.int64]]:
    pairs = list(zip(owners.tolist(), texts, strict=True))
    distinct = sorted(set(pairs))
    numbered = {pair: number for number, pair in enumerate(distinct)}
    places = np.fromiter((numbered[pair] for pair in pairs), np.int64, len(pairs))
    return np.array([owner for owner, _ in distinct], np.int64), [text for _, text in distinct], places


def united(
    dictionaries: Sequence[Dictionary], used: Sequence[NDArray[np.bool_]], readings: Sequence[bool]
) -> tuple[Dictionary, list[Renaming]]:
    """One dictionary of the keys in use of several, and how the keys of each are called in it."""
    owners = [_owners(dictionary) for dictionary in dictionaries]
    kept_numbers = [np.flatnonzero(mask[: len(d.numbers)]) for d, mask in zip(dictionaries, used, strict=True)]
    kept_texts = [np.flatnonzero(mask[len(d.numbers) :]) for d, mask in zip(dictionaries, used, strict=True)]
    number_owners = [
        own[: len(d.numbers)][kept] for d, own, kept in zip(dictionaries, owners, kept_numbers, strict=True)
    ]
    text_owners = [
        own[len(d.numbers) :][kept] for d, own, kept in zip(dictionaries, owners, kept_texts, strict=True)
    ]
    values = [d.numbers[kept] for d, kept in zip(dictionaries, kept_numbers, strict=True)]
    texts = [text for d, kept in zip(dictionaries, kept_texts, strict=True) for text in _texts(d, kept)]
    new, number_places, text_places = dictionary_of(
        readings, (np.concatenate(number_owners), np.concatenate(values)), (np.concatenate(text_owners), texts)
    )
    renamings: list[Renaming] = []
    for d, in_numbers, in_texts in zip(dictionaries, kept_numbers, kept_texts, strict=True):
        names = np.full(len(d.numbers) + len(d.text_ends) - 1, -1, np.int64)
        names[in_numbers] = number_places[: len(in_numbers)]
        names[len(d.numbers) + in_texts] = text_places[: len(in_texts)]
        number_places, text_places = number_places[len(in_numbers) :], text_places[len(in_texts) :]
        renamings.append((places(d), names))
    return new, renamings


def places(dictionary: Dictionary) -> NDArray[np.int64]:
    """Where a reading's keys begin, where numbers and texts are counted through."""
    return dictionary.first + np.where(dictionary.textual, len(dictionary.numbers), 0)


def _owners(dictionary: Dictionary) -> NDArray[np.int64]:
    """The reading of every key, numbers first."""
    ids = np.arange(len(dictionary.first))
    order = np.concatenate((ids[~dictionary.textual], ids[dictionary.textual]))
    return np.repeat(order, dictionary.counts[order])


def _texts(dictionary: Dictionary, wanted: NDArray[np.int64]) -> list[bytes]:
    blob = dictionary.texts.tobytes()
    starts, ends = dictionary.text_ends[wanted].tolist(), dictionary.text_ends[wanted + 1].tolist()
    return [blob[start:end] for start, end in zip(starts, ends, strict=True)]


@kernel
def rank(
    codes: NDArray[np.int32],
    false: NDArray[np.int32],
    numeric: NDArray[np.int32],
    numbers: NDArray[np.float64],
    rests: NDArray[np.int8],
    textual: NDArray[np.int32],
    ends: NDArray[np.int64],
    texts: NDArray[np.uint8],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    known_numbers: NDArray[np.float64],
    known_ends: NDArray[np.int64],
    known_texts: NDArray[np.uint8],
) -> None:
    """Write down the rank of every key that was seen."""
    for i in range(len(false)):
        if false[i] < len(codes):
            codes[false[i]] = FALSE
    for i in range(len(numeric)):
        reading = numeric[i]
        if reading < len(codes):
            value = numbers[i]
            if np.isnan(value):
                codes[reading] = ERROR
            else:
                start = first[reading]
                low, high = start, start + count[reading]
                end = high
                while low < high:
                    middle = (low + high) >> 1
                    if known_numbers[middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                met = low < end and known_numbers[low] == value
                if not met or rests[i] < 0:
                    codes[reading] = 2 * (low - start)
                else:
                    codes[reading] = 2 * (low - start) + (1 if rests[i] == 0 else 2)
    for i in range(len(textual)):
        reading = textual[i]
        if reading < len(codes):
            start = first[reading]
            low, high = start, start + count[reading]
            end = high
            text = texts[ends[i] : ends[i + 1]]
            while low < high:
                middle = (low + high) >> 1
                if compare(known_texts, known_ends[middle], known_ends[middle + 1], text) < 0:
                    low = middle + 1
                else:
                    high = middle
            met = low < end and compare(known_texts, known_ends[low], known_ends[low + 1], text) == 0
            codes[reading] = 2 * (low - start) + (1 if met else 0)


@kernel
def compare(blob: NDArray[np.uint8], start: int, end: int, text: NDArray[np.uint8]) -> int:
    """A text of the blob against another: negative, zero or positive."""
    for i in range(min(end - start, len(text))):
        if blob[start + i] != text[i]:
            return -1 if blob[start + i] < text[i] else 1
    return (end - start) - len(text)


def ranks(dictionary: Dictionary, codes: NDArray[np.int32], sight: Sight) -> None:
    """Write down, for every reading that an event was read in, the rank of its key."""
    rank(codes, *sight, *dictionary[1:])
