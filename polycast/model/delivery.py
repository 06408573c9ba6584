"""Who gets a publication, in which form, and who cannot be given any."""

import msgspec


class Delivery(msgspec.Struct, frozen=True):
    """One subscription's share of a plan: the form it gets, and the broker that hands it over."""

    subscription: str
    broker: str
    format: str


class Unserved(msgspec.Struct, frozen=True):
    """A subscription that wants the publication, and why no form of it will do."""

    subscription: str
    reason: str
