"""LIKE patterns: ``%`` for any characters, ``_`` for one, ``\\`` before either for itself (section 3.4.3)."""

from collections.abc import Callable
from functools import lru_cache

ANY, ONE = -1, -2

LONGEST_GAPPED = (
    4096  # characters between two `%`, if `_` is among them: it bounds the work for each of an event's
)

_NEAR = 256  # places that are looked at one by one before all are looked at together

# A pattern without its escapes: characters as text, and the two wildcards as the numbers above.
Pieces = tuple[str | int, ...]


def pieces(pattern: str) -> Pieces:
    """Split a pattern into literal texts and wildcards, in order; several ``%`` in a row are one."""
    found: list[str | int] = []
    literal: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" and pattern[position + 1 : position + 2] in ("%", "_"):
            position += 1
            literal.append(pattern[position])
        elif character in "%_":
            if literal:
                found.append("".join(literal))
                literal.clear()
            wildcard = ANY if character == "%" else ONE
            if wildcard == ONE or not found or found[-1] != ANY:
                found.append(wildcard)
        else:
            literal.append(character)
        position += 1
    if literal:
        found.append("".join(literal))
    return tuple(found)


def is_bearable(pattern: str) -> bool:
    """Whether the pattern can be looked for in a time that does not explode."""
    if len(pattern) <= LONGEST_GAPPED:
        return True
    return all(
        segment.is_plain or segment.length <= LONGEST_GAPPED for segment in _segments(pieces(pattern))[1:-1]
    )


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A test for one pattern. Between two ``%`` the leftmost place is the right one, so nothing is tried twice."""
    segments = _segments(pieces(pattern))
    if len(segments) == 1:
        [whole] = segments
        return lambda text: len(text) == whole.length and whole.at(text, 0)
    first, *middle, last = segments
    if all(not segment.length for segment in middle) and first.is_plain and last.is_plain:
        return _ends(first.text, last.text)

    def matches(text: str) -> bool:
        end = len(text) - last.length
        if end < first.length or not first.at(text, 0) or not last.at(text, end):
            return False
        position = first.length
        for segment in middle:
            position = segment.find(text, position, end)
            if position < 0:
                return False
            position += segment.length
        return True

    return matches


def _ends(prefix: str, suffix: str) -> Callable[[str], bool]:
    if not suffix:
        return lambda text: text.startswith(prefix)
    shortest = len(prefix) + len(suffix)
    return lambda text: len(text) >= shortest and text.startswith(prefix) and text.endswith(suffix)


class _Segment:
    """What stands between two ``%``: literal texts at fixed places, and gaps of single characters."""

    def __init__(self, parts: list[str | int]) -> None:
        self.literals: list[tuple[int, str]] = []
        self.length = 0
        for part in parts:
            if isinstance(part, str):
                self.literals.append((self.length, part))
                self.length += len(part)
            else:
                self.length += 1
        self.is_plain = not self.length or (len(self.literals) == 1 and len(self.literals[0][1]) == self.length)
        self.text = self.literals[0][1] if self.literals else ""

    def at(self, text: str, position: int) -> bool:
        return all(text.startswith(literal, position + offset) for offset, literal in self.literals)

    def find(self, text: str, start: int, end: int) -> int:
        """The leftmost place from ``start`` on where it fits before ``end``, or -1."""
        if not self.literals:
            return start if start + self.length <= end else -1
        if self.is_plain:
            return text.find(self.text, start, end)
        near = start + _NEAR + self.length
        place = self._find_by_steps(text, start, min(near, end))
        while place < 0 and near < end:
            start, near = near - self.length, near + 4 * (_NEAR + self.length)
            place = self._find_by_masks(text, start, min(near, end))
        return place

    def _find_by_steps(self, text: str, start: int, end: int) -> int:
        """One place after the other: soon done where there are few to look at."""
        offset, literal = max(self.literals, key=lambda found: len(found[1]))
        stop = end - self.length + offset + len(literal)
        place = text.find(literal, start + offset, stop)
        while place >= 0:
            if self.at(text, place - offset):
                return place - offset
            place = text.find(literal, place + 1, stop)
        return -1

    def _find_by_masks(self, text: str, start: int, end: int) -> int:
        """All places at once, a bit for each: steps in proportion to the pattern, whatever the text holds."""
        window = text[start:end]
        places = (1 << max(len(window) - self.length + 1, 0)) - 1
        masks: dict[str, int] = {}
        for offset, literal in self.literals:
            for index, character in enumerate(literal):
                if not places:
                    return -1
                if character not in masks:
                    masks[character] = _mask(window, character)
                places &= masks[character] >> (offset + index)
        return start + (places & -places).bit_length() - 1 if places else -1


def _mask(text: str, character: str) -> int:
    """A number whose bit ``i`` is set where ``text[i]`` is the character."""
    digits = {ord(other): "0" for other in set(text)} | {ord(character): "1"}
    return int(text[::-1].translate(digits), 2)


def _segments(parts: Pieces) -> list[_Segment]:
    found: list[list[str | int]] = [[]]
    for part in parts:
        if part == ANY:
            found.append([])
        else:
            found[-1].append(part)
    return [_Segment(segment) for segment in found]
