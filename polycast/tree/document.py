"""Servers, trees and what they lose as JSON documents: what `polycast grow` reads and writes."""

from collections.abc import Mapping

import msgspec
import numpy as np

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.tree import Tree
from polycast.tree.forest import Trees
from polycast.tree.grow import Growth
from polycast.tree.servers import SOURCE, Servers


class ServerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One server of the question."""

    name: str
    filter_time: float
    transmit_time: float
    rates: Mapping[str, float] = {}


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The question: servers, the source first, and the delays between them."""

    servers: tuple[ServerEntry, ...]
    delays: tuple[tuple[float, ...], ...]


class TreeEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tree: of one object, or of all (null)."""

    object: str | None
    parents: Mapping[str, str]


class Answer(msgspec.Struct, frozen=True):
    """The answer; every key is always there, and what is infinite is null."""

    method: str
    avg_loss: float
    lower_bound: float
    overloaded: tuple[str, ...]
    seconds: float
    losses: Mapping[str, float]
    trees: tuple[TreeEntry, ...]


class Grown(msgspec.Struct, frozen=True):
    """What is read of an answer: its trees."""

    trees: tuple[TreeEntry, ...]


def read(data: bytes, where: str) -> Servers:
    """The servers of a JSON document; objects stand in the order in which they are first wanted."""
    instance = codec.decode(data, Instance, where)
    objects = tuple(dict.fromkeys(name for server in instance.servers for name in server.rates))
    try:
        return Servers(
            np.array([server.filter_time for server in instance.servers]),
            np.array([server.transmit_time for server in instance.servers]),
            _rates(instance.servers, objects),
            _delays(instance),
            [server.name for server in instance.servers],
            objects,
        )
    except BadInput as error:
        raise BadInput(f"{where}, {error.where}", error.why) from None


def _rates(servers: tuple[ServerEntry, ...], objects: tuple[str, ...]) -> np.ndarray:
    column = {name: x for x, name in enumerate(objects)}
    rates = np.zeros((len(servers), len(objects)))
    for row, server in zip(rates, servers, strict=True):
        for name, rate in server.rates.items():
            row[column[name]] = rate
    return rates


def _delays(instance: Instance) -> np.ndarray:
    count = len(instance.servers)
    if len(instance.delays) != count:
        raise BadInput("delays", f"{len(instance.delays)} rows for {count} servers")
    for i, row in enumerate(instance.delays):
        if len(row) != count:
            raise BadInput(f"delays[{i}]", f"{len(row)} delays for {count} servers")
    return np.array(instance.delays, np.float64).reshape(count, count)


def read_trees(data: bytes, where: str, servers: Servers) -> Trees:
    """The trees of an answer, whatever else stands in it."""
    entries = codec.decode(data, Grown, where).trees
    trees: dict[str | None, Tree] = {}
    for number, entry in enumerate(entries):
        place = f"{where}, trees[{number}]"
        if entry.object is not None and entry.object not in servers.objects:
            raise BadInput(f"{place}.object", f'nobody wants an object "{entry.object}"')
        if entry.object in trees:
            raise BadInput(f"{place}.object", "has a tree already")
        trees[entry.object] = Tree.of(servers.names[SOURCE], entry.parents, f"{place}.parents")
    return trees


def answer_of(growth: Growth) -> Answer:
    """Put grown trees into words."""
    names, fidelity = growth.forest.servers.names, growth.fidelity
    losses = zip(names[SOURCE + 1 :], fidelity.losses[SOURCE + 1 :].tolist(), strict=True)
    return Answer(
        method=growth.method,
        avg_loss=growth.average_loss,
        lower_bound=growth.lower_bound,
        overloaded=growth.overloaded,
        seconds=growth.seconds,
        losses=dict(losses),
        trees=tuple(TreeEntry(object_, tree.as_mapping()) for object_, tree in growth.trees.items()),
    )
