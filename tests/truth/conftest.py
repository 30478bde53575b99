"""The Spark session, the same as that of the analysis's tests if both run in one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from chaosk.analysis.spark import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session, on this machine."""
    started = session("local[2]")
    yield started
    started.stop()
