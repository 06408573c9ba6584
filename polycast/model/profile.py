"""In which form a subscriber wants what it gets: what its device can show, and what it likes best."""

import re
from functools import cached_property

import msgspec

from polycast.errors import BadInput
from polycast.model.media import MediaRange, parse_accept, specificity

_LANGUAGE_RANGE = re.compile(r"\*|[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


class Profile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True
):
    """A device, and the taste of whoever holds it. Limits apply to formats that state the property.

    Parameters
    ----------
    accept
        As HTTP's Accept header, q values included.
    max_bitrate
        In the unit of ``Format.bitrate``.
    languages
        Language ranges (RFC 4647), the favourite first; none: any language.
    max_size
        In megabytes, as ``Format.size``.
    """

    accept: str = "*/*"
    max_width: int | None = None
    max_height: int | None = None
    max_bitrate: float | None = None
    languages: tuple[str, ...] = ()
    max_size: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_width", "max_height", "max_bitrate", "max_size"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise BadInput(f"profile.{name}", f"{limit} is not more than 0")
        for position, range_ in enumerate(self.languages):
            if not _LANGUAGE_RANGE.fullmatch(range_):
                raise BadInput(f"profile.languages[{position}]", f"{range_!r:.80} is not a language range")
        try:
            parse_accept(self.accept)
        except BadInput as fault:
            raise BadInput(", ".join(filter(None, ("profile.accept", fault.where))), fault.why) from None

    @cached_property
    def ranges(self) -> tuple[MediaRange, ...]:
        """The media ranges of ``accept``, the narrowest first: the first that accepts an offer decides on it."""
        return tuple(
            sorted(parse_accept(self.accept), key=lambda range_: specificity(range_.media_type), reverse=True)
        )


ANYTHING = Profile()
