"""What every stage needs to know: the folders, and the network, which Spark carries to the workers once."""

import hashlib
import pickle
from dataclasses import dataclass, field

from pyspark import Broadcast
from pyspark.sql import SparkSession

from polycast.convert.store import ContentStore
from polycast.home import Home
from polycast.model.network import Network


@dataclass(frozen=True)
class Site:
    """One installation. Two are equal if they have the same home and the same network.

    Parameters
    ----------
    version
        Tells one network from another.
    """

    home: Home
    version: str
    shared: Broadcast[Network] = field(compare=False, repr=False)

    @property
    def network(self) -> Network:
        """The network; a worker unpacks it once."""
        return self.shared.value

    @property
    def store(self) -> ContentStore:
        """Where contents are kept."""
        return ContentStore(self.home.content)


def open_site(spark: SparkSession, home: Home, network: Network) -> Site:
    """Let the workers of a session know the network."""
    version = hashlib.sha256(pickle.dumps(network)).hexdigest()[:16]
    return Site(home, version, spark.sparkContext.broadcast(network))
