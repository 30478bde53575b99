"""The Spark session, the same as that of the analysis's tests if both run in one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lasting_spark import lasting_session
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session, on this machine."""
    started = lasting_session()
    yield started
    started.stop()
