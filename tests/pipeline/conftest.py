"""One small Spark for all tests of the pipeline."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from polycast.pipeline.session import open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()
