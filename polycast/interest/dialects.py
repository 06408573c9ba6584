"""Do the filters of a subscription accept an event? The dialects of the CloudEvents Subscriptions API."""

from collections.abc import Iterable, Mapping

from polycast.errors import BadInput
from polycast.model.publication import Scalar
from polycast.model.subscription import AllOf, AnyOf, Exact, Filter, Not, Prefix, Suffix


def accepts(filters: Iterable[Filter], attributes: Mapping[str, Scalar]) -> bool:
    """Whether every filter accepts an event with these attributes."""
    return all(_accepts(filter, attributes) for filter in filters)


def _accepts(filter: Filter, attributes: Mapping[str, Scalar]) -> bool:
    match filter:
        case Exact(wanted):
            return all(name in attributes and text(attributes[name]) == value for name, value in wanted.items())
        case Prefix(wanted):
            return all(
                name in attributes and text(attributes[name]).startswith(value) for name, value in wanted.items()
            )
        case Suffix(wanted):
            return all(
                name in attributes and text(attributes[name]).endswith(value) for name, value in wanted.items()
            )
        case AllOf(inner):
            return all(_accepts(one, attributes) for one in inner)
        case AnyOf(inner):
            return any(_accepts(one, attributes) for one in inner)
        case Not(one):
            return not _accepts(one, attributes)
    raise BadInput("filters", "the dialect `sql` is not available yet")


def text(value: Scalar) -> str:
    """An attribute's canonical text, as CloudEvents defines it for each type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
