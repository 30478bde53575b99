"""Java's names are looked up once a session, and mean the same."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from chaosk.analysis import java_names

pytestmark = pytest.mark.spark

LOOKUP = "r\n"
"""How a question of py4j for a name begins."""


@pytest.fixture
def questions(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked for by name from here on, as ``name`` or ``class.member``."""
    asked: list[str] = []
    client = spark.sparkContext._jvm._gateway_client  # type: ignore[union-attr]
    sent = client.send_command

    def send(command: str, *args: Any, **kwargs: Any) -> Any:
        if command.startswith(LOOKUP):
            asked.append(".".join(command.split("\n")[2:4]))
        return sent(command, *args, **kwargs)

    monkeypatch.setattr(client, "send_command", send)
    return asked


def columns(spark: SparkSession) -> list[int]:
    """What a query comes to that has names, literals, functions, and several columns in one call."""
    one = spark.range(3).select((F.col("id") + F.lit(1)).alias("a"), F.greatest("id", F.lit(1)).alias("b"))
    return [row["s"] for row in one.groupBy("b").agg(F.sum("a").alias("s")).sort("b").collect()]


def test_a_second_query_asks_for_no_function(spark: SparkSession, questions: list[str]) -> None:
    """The first may; the same once more asks for none of Spark's functions, and comes to the same."""
    first = columns(spark)
    del questions[:]
    assert columns(spark) == first == [3, 3]
    assert [name for name in questions if "functions" in name or "PythonUtils" in name] == []


def test_without_them_each_use_asks(spark: SparkSession, questions: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is what PySpark would ask for: without it, it does, once a use."""
    columns(spark)
    del questions[:]
    for name in java_names.NAMES:
        monkeypatch.delitem(vars(spark.sparkContext._jvm), name)
    columns(spark)
    assert {name.split(".rj")[0] for name in questions} >= {
        "functions",
        "org.apache.spark.sql.functions",
        "PythonUtils",
    }


def test_a_function_that_is_none_is_still_none(spark: SparkSession) -> None:
    """Nothing is remembered of a name that Java has not: it is asked for again, and said to be missing."""
    functions = spark.sparkContext._jvm.functions  # type: ignore[union-attr]
    for _ in range(2):
        with pytest.raises(Exception, match="does not exist in the JVM"):
            functions.nosuchfunction  # noqa: B018 # to be asked for is all it is for
    assert "nosuchfunction" not in vars(functions)
