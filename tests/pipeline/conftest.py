"""One Spark for the session, tuned tiny: a test takes seconds, nearly all of them Spark's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples import samples
from polycast import networks
from polycast.home import Home
from polycast.model.network import Network
from polycast.pipeline.session import open_session
from polycast.pipeline.site import Site, open_site

NETWORK = Path(__file__).parents[2] / "examples" / "network.toml"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = Home(tmp_path_factory.mktemp("spark and a [blank]"))
    options = {"spark.sql.shuffle.partitions": "1", "spark.driver.memory": "512m"}
    session = open_session("local[1, 2]", options, home)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def network() -> Network:
    return networks.load(NETWORK)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.inbox.mkdir(parents=True)
    return home


@pytest.fixture
def site(spark: SparkSession, home: Home, network: Network) -> Site:
    return open_site(spark, home, network)


@pytest.fixture(scope="session")
def the_map(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.annotated_map(tmp_path_factory.mktemp("samples") / "map.pdf")
