"""Have the kernels of the match index at hand, by going through all that one does."""

from polycast.interest.cesql import parse
from polycast.interest.index.match_index import FRESH, MatchIndex


def warm() -> None:
    """Load the kernels from disk, or compile them where they are not there yet."""
    wishes = [(str(i), parse(f"type = 'a' AND level > {i} OR LENGTH(type) = {i}", False)) for i in range(600)]
    index = MatchIndex.of(wishes)
    index.match({"type": "a", "level": 300})
    for name, wish in wishes[:FRESH]:
        index.remove(name)
        index.add(name, wish)
    index.match({"type": "b", "level": "none"})
