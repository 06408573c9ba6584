"""The main path: everything that is decided about one publication.

The pipeline, the embedded network and the simulator all call :func:`plan`. Who wants the publication is passed in,
because matching is a distributed stage of its own.
"""

from collections.abc import Iterable, Sequence

import msgspec

from polycast.errors import BadInput
from polycast.interest.negotiation import negotiate
from polycast.model.broker import AnyOf, Broker
from polycast.model.delivery import Delivery, DeliveryPlan, Unserved
from polycast.model.format import ContentGraph, Format
from polycast.model.network import Network
from polycast.model.plan import Plan
from polycast.model.problem import problem_of
from polycast.model.publication import Content, Publication
from polycast.place import solve

MEGABYTE = 1e6

# Seconds that placement may take; beyond them the best plan so far is good enough for one publication.
PLACING = 1.0
METHOD = "auto"


def plan(publication: Publication, matches: Iterable[str], network: Network) -> DeliveryPlan:
    """Decide who gets a publication in which form, the way it takes, and where each conversion runs.

    Parameters
    ----------
    matches
        The users whose filters accept the publication.
    """
    content = _content(publication)
    graph = content_graph(content, network)
    wishes, unserved = negotiate_forms(matches, network, graph, content.format)
    brokers, seats = _seat(wishes, network)
    problem = problem_of(graph, brokers, content.format, network.alpha, network.beta)
    placed = solve(problem, METHOD, time_limit=PLACING).plan
    return DeliveryPlan(
        **{name: getattr(placed, name) for name in Plan.__dataclass_fields__},
        deliveries=_deliveries(placed, seats),
        unserved=unserved,
    )


def content_graph(content: Content, network: Network) -> ContentGraph:
    """The forms that the content can take, with sizes and costs that suit how large it is.

    Content of a type that no graph of the network knows has one form, its own.
    """
    if content.format not in network.graph_of:
        form = Format(name=content.format, size=content.size / MEGABYTE, media_type=content.format)
        return ContentGraph(formats=(form,), operators=())
    return network.graph_of[content.format].for_content(content.format, content.size / MEGABYTE)


def negotiate_forms(
    matches: Iterable[str], network: Network, graph: ContentGraph, published: str
) -> tuple[dict[str, dict[str, float]], tuple[Unserved, ...]]:
    """For every user the forms that suit the device, each with its penalty; and whom none suits, with why."""
    reachable = graph.cheapest_chains([published])
    offers = [graph[name] for name in graph.index if name in reachable]
    wishes, unserved = {}, []
    for name in matches:
        outcome = negotiate(network.by_user[name].subscription.profile, offers, network.preference)
        if outcome.reason is None:
            wishes[name] = outcome.alternatives
        else:
            unserved.append(Unserved(name, outcome.reason))
    return wishes, tuple(unserved)


Seat = tuple[str, Sequence[str]]
Wish = tuple[tuple[str, float], ...]


def _seat(wishes: dict[str, dict[str, float]], network: Network) -> tuple[tuple[Broker, ...], list[Seat]]:
    """The tree to all who get something, where users of one broker with the same wish share one want.

    The seats tell, for every want in order, its broker and the users behind it.
    """
    shared: dict[str, dict[Wish, list[str]]] = {}
    for user, wish in wishes.items():
        shared.setdefault(network.by_user[user].broker, {}).setdefault(tuple(wish.items()), []).append(user)
    tree = network.tree_to(shared)
    brokers = tuple(
        msgspec.structs.replace(
            broker, wants=tuple(_want(wish, len(users)) for wish, users in shared.get(broker.name, {}).items())
        )
        for broker in tree
    )
    return brokers, [(broker.name, users) for broker in tree for users in shared.get(broker.name, {}).values()]


def _want(wish: Wish, users: int) -> str | AnyOf:
    """The penalties of all who share the want add up."""
    return wish[0][0] if len(wish) == 1 else AnyOf({form: penalty * users for form, penalty in wish})


def _deliveries(placed: Plan, seats: Sequence[Seat]) -> tuple[Delivery, ...]:
    names = placed.problem.format_names
    return tuple(
        Delivery(user, broker, names[format])
        for (broker, users), format in zip(seats, placed.delivered.tolist(), strict=True)
        for user in users
    )


def _content(publication: Publication) -> Content:
    if publication.content is None:
        raise BadInput(f'publication "{publication.id}"', "it has no content to deliver")
    return publication.content
