"""Who gets a publication, in which form, and who cannot be given any."""

from dataclasses import dataclass

import msgspec

from polycast.model.plan import Plan


class Delivery(msgspec.Struct, frozen=True):
    """One subscription's share of a plan: the form it gets, and the broker that hands it over."""

    subscription: str
    broker: str
    format: str


class Unserved(msgspec.Struct, frozen=True):
    """A subscription that wants the publication, and why no form of it will do."""

    subscription: str
    reason: str


@dataclass(frozen=True, eq=False)
class DeliveryPlan(Plan):
    """A plan for one publication, which also knows the subscriptions behind the wants."""

    deliveries: tuple[Delivery, ...] = ()
    unserved: tuple[Unserved, ...] = ()
