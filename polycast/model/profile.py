"""In which form a subscriber wants what it gets: what its device can show, and what it likes best."""

from functools import cached_property

import msgspec

from polycast.errors import BadInput
from polycast.model.media import MediaRange, parse_accept


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
        try:
            parse_accept(self.accept)
        except BadInput as fault:
            raise BadInput(", ".join(filter(None, ("profile.accept", fault.where))), fault.why) from None

    @cached_property
    def ranges(self) -> tuple[MediaRange, ...]:
        """The media ranges of ``accept``, in its order."""
        return parse_accept(self.accept)


ANYTHING = Profile()
