"""What every stage needs to know: the folders, and the network, which Spark carries to the workers once."""

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from pyspark import Broadcast
from pyspark.sql import SparkSession

from polycast.convert.store import ContentStore
from polycast.home import Home
from polycast.interest import dialects
from polycast.interest.index import MatchIndex, storage
from polycast.model.network import Network


@dataclass(frozen=True)
class Site:
    """One installation. Two are equal if they have the same home and the same network.

    Parameters
    ----------
    version
        Tells one network from another.
    tasks
        How many pieces a table is cut into at most.
    """

    home: Home
    version: str
    tasks: int
    shared: Broadcast[Network] = field(compare=False, repr=False)

    @property
    def network(self) -> Network:
        """The network; a worker unpacks it once."""
        return self.shared.value

    @property
    def index(self) -> Path:
        """Where the match index of the network's subscriptions is, as this version of Polycast writes it."""
        return self.home.indexes / f"{self.version}-{storage.VERSION}"

    @property
    def store(self) -> ContentStore:
        """Where contents are kept."""
        return ContentStore(self.home.content)


def open_site(spark: SparkSession, home: Home, network: Network) -> Site:
    """Let the workers of a session know the network."""
    version = hashlib.sha256(msgspec.json.encode(network)).hexdigest()[:16]
    tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    site = Site(home, version, tasks, spark.sparkContext.broadcast(network))
    if not site.index.exists():
        _index(network, site.index)
    return site


def _index(network: Network, folder: Path) -> None:
    """Keep the match index of a network, which appears whole or not at all; those of earlier networks go."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    growing = folder.with_suffix(".new")
    named = ((user.name, dialects.subscription_expression(user.subscription)) for user in network.users)
    MatchIndex.of(named).save(growing)
    growing.rename(folder)
