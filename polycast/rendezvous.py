"""The main path: everything that is decided about one publication.

The pipeline, the embedded network and the simulator all call :func:`plan`. Who wants the publication is passed in,
because matching is a distributed stage of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from polycast.errors import BadInput
from polycast.interest.negotiation import negotiate
from polycast.model.broker import AnyOf, Broker
from polycast.model.delivery import Delivery, Unserved
from polycast.model.format import ContentGraph
from polycast.model.network import Network
from polycast.model.plan import Plan
from polycast.model.problem import problem_of
from polycast.model.publication import Content, Publication
from polycast.place import solve

# Seconds that placement may take; beyond them the best plan so far is good enough for one publication.
PLACING = 1.0
METHOD = "auto"


def plan(publication: Publication, matches: Iterable[str], network: Network) -> Plan:
    """Decide who gets a publication in which form, the way it takes, and where each conversion runs.

    Parameters
    ----------
    matches
        The users whose filters accept the publication.
    """
    content = _content(publication)
    graph = network.graph_for(content)
    wishes, unserved = negotiate_forms(content, matches, graph, network)
    tree = choose_tree(wishes, network)
    placed = place_conversions(content, wishes, tree, graph, network)
    return replace(placed, deliveries=_deliveries(placed, wishes, tree), unserved=unserved)


class Wish(NamedTuple):
    """What users of one broker would take, all of them alike: forms, each with its penalty for one of them."""

    forms: tuple[tuple[str, float], ...]
    users: Sequence[str]

    @property
    def want(self) -> str | AnyOf:
        """The users share one want of their broker, and their penalties add up."""
        if len(self.forms) == 1:
            return self.forms[0][0]
        return AnyOf({form: penalty * len(self.users) for form, penalty in self.forms})


Wishes = Mapping[str, Sequence[Wish]]
"""By broker."""


def negotiate_forms(
    content: Content, matches: Iterable[str], graph: ContentGraph, network: Network
) -> tuple[Wishes, tuple[Unserved, ...]]:
    """What those who match would take of all that can be made; and whom nothing of it suits, with why."""
    reachable = graph.cheapest_chains([content.format])
    offers = [graph[name] for name in graph.index if name in reachable]
    alike: dict[str, dict[tuple[tuple[str, float], ...], list[str]]] = defaultdict(dict)
    unserved = []
    for name in matches:
        user = network.by_user[name]
        outcome = negotiate(user.subscription.profile, offers, network.preference)
        if outcome.reason is None:
            alike[user.broker].setdefault(tuple(outcome.alternatives.items()), []).append(name)
        else:
            unserved.append(Unserved(name, outcome.reason))
    wishes = {broker: [Wish(forms, users) for forms, users in there.items()] for broker, there in alike.items()}
    return wishes, tuple(unserved)


def choose_tree(wishes: Wishes, network: Network) -> Sequence[Broker]:
    """The way: the network's own tree, cut down to the brokers that lead to somebody who gets something."""
    return network.tree_to(wishes)


def place_conversions(
    content: Content, wishes: Wishes, tree: Sequence[Broker], graph: ContentGraph, network: Network
) -> Plan:
    """What every broker of the tree receives, makes and hands over, at the least cost."""
    brokers = [
        msgspec.structs.replace(broker, wants=tuple(wish.want for wish in wishes.get(broker.name, ())))
        for broker in tree
    ]
    problem = problem_of(graph, brokers, content.format, network.alpha, network.beta)
    return solve(problem, METHOD, time_limit=PLACING).plan


def _deliveries(placed: Plan, wishes: Wishes, tree: Sequence[Broker]) -> tuple[Delivery, ...]:
    """The users behind the wants of the plan, each with the form that its want is given."""
    asked = [(broker.name, wish.users) for broker in tree for wish in wishes.get(broker.name, ())]
    names = placed.problem.format_names
    return tuple(
        Delivery(user, broker, names[format])
        for (broker, users), format in zip(asked, placed.delivered.tolist(), strict=True)
        for user in users
    )


def _content(publication: Publication) -> Content:
    if publication.content is None:
        raise BadInput(f'publication "{publication.id}"', "it has no content to deliver")
    return publication.content
