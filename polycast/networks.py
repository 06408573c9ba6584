"""Opens a network file and the content graphs that it names."""

from pathlib import Path

from polycast.convert import graphs
from polycast.errors import BadInput
from polycast.model.format import ContentGraph
from polycast.model.network import Network, read_network


def load(path: str | Path) -> Network:
    """The network in a TOML file. Paths in it are meant from the folder that it stands in."""
    path = Path(path)

    def load_graph(name: str) -> ContentGraph:
        return graphs.load(name if name in graphs.names() else path.parent / name)

    try:
        return read_network(path.read_bytes(), str(path), load_graph)
    except OSError as error:
        raise BadInput(str(path), error.strerror or str(error)) from None
