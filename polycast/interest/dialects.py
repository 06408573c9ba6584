"""Do the filters of a subscription accept an event? The dialects of the CloudEvents Subscriptions API.

Whatever dialects they are written in, the filters of a subscription become one expression in the steps of CESQL,
and everything else (evaluation, the index, regions, Spark) works on that.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from polycast.errors import BadInput
from polycast.interest.cesql import Expression, ParseError, Program, parse
from polycast.interest.cesql.expression import Step
from polycast.model.publication import Event
from polycast.model.subscription import AllOf, AnyOf, Exact, Filter, Not, Prefix, Sql, Subscription, Suffix

EVERYTHING: Step = ("const", True)


def accepts(filters: Iterable[Filter], attributes: Mapping[str, Any]) -> bool:
    """Whether every filter accepts an event with these attributes. For many events, keep a ``program``."""
    return Program(expression(filters)).accepts(attributes)


def attributes_of(event: Event) -> dict[str, Any]:
    """What filters see of an event: its attributes, and its payload as ``data``."""
    return {**event.attributes, "data": event.data}


def program(subscription: Subscription) -> Program:
    """A subscription's filters, ready to be evaluated."""
    return Program(subscription_expression(subscription))


def subscription_expression(subscription: Subscription, where: str = "") -> Expression:
    """A subscription's filters as one expression; a fault names the subscription, and the column."""
    try:
        return expression(subscription.filters)
    except ParseError as fault:
        place = f'subscription "{subscription.id}", sql, {fault.where}'
        raise BadInput(f"{where}, {place}" if where else place, fault.why) from None


def expression(filters: Iterable[Filter]) -> Expression:
    """The conjunction of filters as one expression. Filters nest as deeply as they like; nothing here recurses."""
    steps: list[Step] = []
    waiting: list[Filter | Step] = [AllOf(tuple(filters))]
    while waiting:
        item = waiting.pop()
        match item:
            case tuple():
                steps.append(item)
            case Exact(wanted) | Prefix(wanted) | Suffix(wanted):
                kind = str(type(item).__struct_config__.tag)
                steps.extend(_joined_steps([(kind, pair) for pair in wanted.items()]))
            case AllOf(inner):
                waiting.extend(reversed(_interleaved(inner, "and")))
            case AnyOf(inner):
                waiting.extend(reversed(_interleaved(inner, "or")))
            case Not(inner_filter):
                waiting.extend((("not", None), inner_filter))
            case Sql(text):
                steps.extend(parse(text, strict=False).steps)
                steps.append(("quiet", None))
    return Expression(tuple(steps), strict=False)


def _interleaved(filters: tuple[Filter, ...], operator: str) -> list[Filter | Step]:
    """Operands and operators in the order of steps; nothing to join accepts everything."""
    if not filters:
        return [EVERYTHING]
    items: list[Filter | Step] = [filters[0]]
    for filter in filters[1:]:
        items += [filter, (operator, None)]
    return items


def _joined_steps(steps: list[Step]) -> list[Step]:
    return steps[:1] + [part for step in steps[1:] for part in (step, ("and", None))]
