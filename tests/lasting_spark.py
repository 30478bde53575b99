"""A Spark session for many judgements in one process: tests of the analysis ask for hundreds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from chaosk.analysis.spark import session

OPTIONS = "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""A command's own session stops at the first compiler, because it is soon over; this one is worth the second."""


def lasting_session() -> SparkSession:
    """The session, on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f'--conf "spark.driver.extraJavaOptions={OPTIONS}" pyspark-shell')
        return session("local[2]")
