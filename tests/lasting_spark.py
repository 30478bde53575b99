"""A Spark session for many judgements in one process: tests of the analysis ask for hundreds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from chaosk.analysis.spark import session

MEMORY = "2g"
"""With one gigabyte, a third of the time of the last tests of a session went into full collections."""

COMPILED = "-XX:TieredStopAtLevel=4"
"""The optimizing compiler, which a short judgement goes without: hundreds of them take a third less with it."""


def lasting_session() -> SparkSession:
    """The session, on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"--driver-memory {MEMORY} pyspark-shell")
        return session("local[2]", java=COMPILED)
