"""A Spark session for many judgements in one process: tests of the analysis ask for hundreds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from chaosk.analysis.spark import session

OPTIONS = "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""A command's own session stops at the first compiler, because it is soon over; this one is worth the second."""

MEMORY = "2g"
"""With one gigabyte, a third of the time of the last tests of a session went into full collections."""


def lasting_session() -> SparkSession:
    """The session, on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        words = f'--driver-memory {MEMORY} --conf "spark.driver.extraJavaOptions={OPTIONS}" pyspark-shell'
        patch.setenv("PYSPARK_SUBMIT_ARGS", words)
        return session("local[2]")
