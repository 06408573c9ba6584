"""A broker of a dissemination tree, and what its subscribers want."""

import msgspec


class AnyOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A want that any one of several formats satisfies, each at its penalty (0 for the favourite)."""

    any: dict[str, float]


class Broker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One broker, the link that leads to it from its parent, and the wants of its subscribers.

    The root has no parent, and its ``link_cost`` plays no part.
    """

    name: str
    parent: str | None = None
    link_cost: float = 1.0
    compute_cost: float = 1.0
    wants: tuple[str | AnyOf, ...] = ()
