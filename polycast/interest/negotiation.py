"""Which of the forms that can be made suit a device, and how well: content negotiation as HTTP knows it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from polycast.errors import BadInput
from polycast.model.format import Format
from polycast.model.media import MediaType, accepts, parse_media_type
from polycast.model.profile import Profile

_UNKNOWN = MediaType("", "", {})


class Negotiation(NamedTuple):
    """What came out of it.

    Attributes
    ----------
    alternatives
        The acceptable formats, best first, each with the penalty that placement adds if it delivers this one:
        0 for the favourite. Empty if nothing is acceptable.
    refused
        Why each of the others will not do.
    """

    alternatives: dict[str, float]
    refused: dict[str, str]

    @property
    def reason(self) -> str | None:
        """Why nothing is acceptable; None if something is."""
        if self.alternatives:
            return None
        if not self.refused:
            return "no format can be made"
        return "; ".join(f"{name}: {why}" for name, why in self.refused.items())


def negotiate(profile: Profile, formats: Iterable[Format], weight: float = 1.0) -> Negotiation:
    """Weigh the formats that can be made against a profile.

    Parameters
    ----------
    weight
        The penalty of a format that is hardly wanted at all, in the units of the plan's cost.
    """
    scores: dict[str, float] = {}
    refused: dict[str, str] = {}
    for format in formats:
        fault = _too_large(profile, format)
        score = 0.0 if fault else _liking(profile, format) * _language(profile, format)
        if score > 0:
            scores[format.name] = score * (1.0 if format.quality is None else max(format.quality, 1e-6))
        else:
            refused[format.name] = fault or _unwanted(profile, format)
    best = max(scores.values(), default=1.0)
    ranked = sorted(scores, key=lambda name: -scores[name])
    return Negotiation({name: weight * (1.0 - scores[name] / best) for name in ranked}, refused)


def _too_large(profile: Profile, format: Format) -> str | None:
    """The first limit of the device that the format exceeds, in words."""
    for what, limit, value in (
        ("wide", profile.max_width, format.width),
        ("high", profile.max_height, format.height),
        ("high a bitrate", profile.max_bitrate, format.bitrate),
        ("large", profile.max_size, format.size),
    ):
        if limit is not None and value is not None and value > limit:
            return f"too {what}, {value:g} for {limit:g}"
    return None


def _liking(profile: Profile, format: Format) -> float:
    """The q value of the narrowest media range that accepts the format; 0 where none does."""
    offer = media_type(format)
    return next((range_.q for range_ in profile.ranges if accepts(range_.media_type, offer)), 0.0)


def media_type(format: Format) -> MediaType:
    """A format's media type; one that states none is accepted by ``*/*`` only."""
    if format.media_type is None:
        return _UNKNOWN
    try:
        return _remembered(format.media_type)
    except BadInput as fault:
        raise BadInput(f"formats.{format.name}.media_type", fault.why) from None


_remembered = lru_cache(maxsize=4096)(parse_media_type)


def _language(profile: Profile, format: Format) -> float:
    """1 for the favourite language and for content without one, falling by rank; 0 for one not asked for."""
    if not profile.languages or format.language is None:
        return 1.0
    tag = format.language.lower()
    for rank, range_ in enumerate(profile.languages):
        if range_ == "*" or tag == range_.lower() or tag.startswith(range_.lower() + "-"):
            return 1.0 - rank / len(profile.languages)
    return 0.0


def _unwanted(profile: Profile, format: Format) -> str:
    if _language(profile, format) == 0:
        return f"its language {format.language} is none of {', '.join(profile.languages)}"
    return f"{format.media_type or 'a format without a media type'} is not in `{profile.accept}`"
