"""A network: its brokers as a tree, its users with what they want and in which form, and what weighs how much."""

import tomllib
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any

import msgspec

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.broker import Broker
from polycast.model.format import ContentGraph, Format
from polycast.model.media import MediaType, accepts, parse_media_type
from polycast.model.problem import problem_of
from polycast.model.publication import Content
from polycast.model.subscription import Subscription, read_subscription

VERSION = 1
MEGABYTE = 1e6


class User(msgspec.Struct, frozen=True):
    """Somebody with a device: a subscription, and the broker that serves it. Both have the user's name."""

    broker: str
    subscription: Subscription

    @property
    def name(self) -> str:
        return self.subscription.id


class Network(msgspec.Struct, frozen=True, dict=True):
    """Everything that stays as it is from one publication to the next.

    Parameters
    ----------
    graphs
        The forms that publications can take; no two graphs share the name of a form.
    alpha, beta
        Weights of a megabyte sent over a link of cost 1, and of a second of processor time at a broker of cost 1.
    preference
        Weight of taste: what it costs to give somebody a form that is hardly wanted at all.
    """

    brokers: tuple[Broker, ...]
    users: tuple[User, ...] = ()
    graphs: tuple[ContentGraph, ...] = ()
    alpha: float = 1.0
    beta: float = 1.0
    preference: float = 1.0

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def by_user(self) -> dict[str, User]:
        """Every user, by name."""
        return {user.name: user for user in self.users}

    @cached_property
    def graph_of(self) -> dict[str, ContentGraph]:
        """The graph that a form belongs to, by the form's name."""
        return {format.name: graph for graph in self.graphs for format in graph.formats}

    def form_of(self, media_type: str) -> str | None:
        """The form that content of a media type has: the first that fits; None if no graph knows the type."""
        offered = parse_media_type(media_type)
        for graph in self.graphs:
            for format in graph.formats:
                if format.media_type is not None and _same(parse_media_type(format.media_type), offered):
                    return format.name
        return None

    def graph_for(self, content: Content) -> ContentGraph:
        """The forms that content can take, with sizes and costs that suit how large it is.

        Content of a type that no graph knows has one form, its own.
        """
        size = content.size / MEGABYTE
        if content.format not in self.graph_of:
            form = Format(name=content.format, size=size, media_type=content.format)
            return ContentGraph(formats=(form,), operators=())
        return self.graph_of[content.format].for_content(content.format, size)

    def tree_to(self, receivers: Collection[str]) -> tuple[Broker, ...]:
        """The tree cut down to the root and the brokers that lead to a receiver, parents in their place."""
        parents = {broker.name: broker.parent for broker in self.brokers}
        needed = {name for name, parent in parents.items() if parent is None}
        for receiver in receivers:
            on_the_way: str | None = receiver
            while on_the_way is not None and on_the_way not in needed:
                needed.add(on_the_way)
                on_the_way = parents[on_the_way]
        return tuple(broker for broker in self.brokers if broker.name in needed)


def read_network(data: bytes, where: str, load_graph: Callable[[str], ContentGraph]) -> Network:
    """Read a network file; every fault names the file, the table in it, and the reason.

    Parameters
    ----------
    load_graph
        Gives the content graph of a name or path that the file states.
    """
    document = _parse(data, where)
    try:
        return Network(
            brokers=tuple(_broker(table, place) for table, place in _tables(document, "broker", where)),
            users=tuple(_user(table, place) for table, place in _tables(document, "user", where)),
            graphs=tuple(load_graph(name) for name in _names(document, where)),
            **{name: _weight(document[name], f"{where}, {name}") for name in _WEIGHTS if name in document},
        )
    except BadInput as fault:
        raise fault if fault.where.startswith(where) else BadInput(f"{where}, {fault.where}", fault.why) from None


_WEIGHTS = ("alpha", "beta", "preference")
_KEYS = {"version", "graphs", "broker", "user", *_WEIGHTS}


def _parse(data: bytes, where: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise BadInput(where, f"not UTF-8 text: {error.reason} at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(where, f"not TOML: {error}") from None
    if unknown := document.keys() - _KEYS:
        raise BadInput(where, f"unknown key `{min(unknown)}`; known are {', '.join(sorted(_KEYS))}")
    version = document.get("version", VERSION)
    if version != VERSION:
        raise BadInput(f"{where}, version", f"{version!r} is not a version that is known here; this is {VERSION}")
    return document


def _tables(document: dict[str, Any], key: str, where: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of a kind, each with the words that say where it stands."""
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{where}, {key}", f"expected tables, each under its own [[{key}]]")
    return [(table, f"{where}, {_title(key, position, table)}") for position, table in enumerate(tables)]


def _title(key: str, position: int, table: dict[str, Any]) -> str:
    name = table.get("name")
    return f'[[{key}]] "{name}"' if isinstance(name, str) and name else f"[[{key}]] number {position + 1}"


def _broker(table: dict[str, Any], where: str) -> Broker:
    if "wants" in table:
        raise BadInput(f"{where}, wants", "what is wanted is said by the users")
    return codec.convert(table, Broker, where)


def _user(table: dict[str, Any], where: str) -> User:
    if unknown := table.keys() - {"name", "broker", "filters", "profile"}:
        raise BadInput(where, f"unknown key `{min(unknown)}`")
    for key in ("name", "broker"):
        if not isinstance(table.get(key), str) or not table[key]:
            raise BadInput(where, f"a user needs a `{key}`: a string of one character or more")
    wish = {"id": table["name"]} | {key: table[key] for key in ("filters", "profile") if key in table}
    try:
        return User(table["broker"], read_subscription(wish, where))
    except BadInput as fault:
        place = fault.where.replace(f', subscription "{table["name"]}"', "")
        raise BadInput(place, fault.why) from None


def _names(document: dict[str, Any], where: str) -> list[str]:
    names = document.get("graphs", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadInput(f"{where}, graphs", "expected an array of names or paths of content graphs")
    return names


def _weight(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise BadInput(where, f"{value!r} is not a finite weight of 0 or more")
    return float(value)


def _check(network: Network) -> None:
    _check_tree(network.brokers)
    brokers = {broker.name for broker in network.brokers}
    seen: set[str] = set()
    for user in network.users:
        place = f'[[user]] "{user.name}"'
        if user.name in seen:
            raise BadInput(place, "a second user of this name")
        if user.broker not in brokers:
            raise BadInput(f"{place}, broker", f'no broker is named "{user.broker}"')
        seen.add(user.name)
    known: set[str] = set()
    for graph in network.graphs:
        if shared := known & graph.index.keys():
            raise BadInput("graphs", f'two graphs have a format named "{min(shared)}"')
        known |= graph.index.keys()


def _check_tree(brokers: tuple[Broker, ...]) -> None:
    """What makes brokers a tree is known where placement is stated: state one, of a form that nobody wants."""
    nothing = ContentGraph(formats=(Format(name="nothing", size=0.0),), operators=())
    try:
        problem_of(nothing, brokers, "nothing")
    except BadInput as fault:
        raise BadInput(_in_words(fault.where, brokers), fault.why) from None


def _in_words(where: str, brokers: tuple[Broker, ...]) -> str:
    """Turn ``brokers[3].parent`` into the title of the table."""
    position, _, key = where.removeprefix("brokers[").partition("]")
    if not position.isdecimal():
        return "[[broker]]"
    title = _title("broker", int(position), {"name": brokers[int(position)].name})
    return f"{title}, {key.lstrip('.')}" if key else title


def _same(known: MediaType, offered: MediaType) -> bool:
    """Whether content of the offered type may be taken for the known one; what it leaves unsaid is no obstacle."""
    shared = {name: value for name, value in known.parameters.items() if name in offered.parameters}
    return accepts(known._replace(parameters=shared), offered)
