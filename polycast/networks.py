"""Opens a network file and the content graphs that it names."""

from pathlib import Path

from polycast.convert import graphs
from polycast.errors import BadInput
from polycast.interest import dialects
from polycast.interest.cesql import ParseError
from polycast.model.format import ContentGraph
from polycast.model.network import Network, User, read_network


def load(path: str | Path) -> Network:
    """The network in a TOML file. Paths in it are meant from the folder that it stands in."""
    path = Path(path)

    def load_graph(name: str) -> ContentGraph:
        return graphs.load(name if name in graphs.names() else path.parent / name)

    try:
        network = read_network(path.read_bytes(), str(path), load_graph)
    except OSError as error:
        raise BadInput(str(path), error.strerror or str(error)) from None
    for user in network.users:
        _check_filters(user, str(path))
    return network


def _check_filters(user: User, where: str) -> None:
    """The file tells what filters there are; whether the expressions in them can be read, the language."""
    try:
        dialects.expression(user.subscription.filters)
    except ParseError as fault:
        raise BadInput(f'{where}, [[user]] "{user.name}", sql, {fault.where}', fault.why) from None
