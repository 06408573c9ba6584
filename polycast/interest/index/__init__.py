"""The match index: which of a million subscriptions accept an event, without asking each."""

from polycast.interest.index.match_index import MatchIndex

__all__ = ["MatchIndex"]
