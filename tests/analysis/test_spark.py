"""Whose settings hold: the user's Spark configuration first, ours where it says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from chaosk.analysis.events import spark_schema
from chaosk.analysis.spark import failures_as, tune, user_settings
from chaosk.core.errors import AnalysisError, PreflightError
from chaosk.hosts.java import require_java
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.arrow import SCHEMAS


def test_settings_of_the_user_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In spark-defaults.conf, in PYSPARK_SUBMIT_ARGS, and the latter counts more, as it does for Spark."""
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.driver.memory  3g\nspark.master=yarn\n\nspark.eventLog.dir hdfs://x/a b\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master spark://h:7077 --conf spark.ui.enabled=true pyspark-shell")
    assert user_settings() == {
        "spark.driver.memory": "3g",
        "spark.master": "spark://h:7077",
        "spark.eventLog.dir": "hdfs://x/a b",
        "spark.ui.enabled": "true",
    }


def test_without_configuration_there_are_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SPARK_HOME without the file, and nothing else."""
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert user_settings() == {}


def test_no_java_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is missing altogether, or JAVA_HOME points into the void."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(PreflightError, match=r"no java on the PATH.*install a Java 17 runtime"):
        require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PreflightError, match="JAVA_HOME is"):
        require_java()


@pytest.mark.parametrize(
    ("said", "why"),
    [('openjdk version "1.8.0_392"', "is Java 8"), ('openjdk version "11.0.21" 2023-10-17', "is Java 11")],
)
def test_a_java_that_is_too_old_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str) -> None:
    """Spark would say so by a class it cannot load, after the cluster was broken."""
    (tmp_path / "java").write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(PreflightError, match=rf"{why}, and Spark needs 17 or newer.*install a Java 17 runtime"):
        require_java()


@pytest.mark.parametrize(
    "error",
    [PySparkException("[BROKEN] it broke\nat x.y.z"), Py4JNetworkError("gone"), EOFError()],  # type: ignore[no-untyped-call]
)
def test_what_spark_raises_becomes_one_line(error: Exception) -> None:
    """With what was being done, and without the JVM's stack."""
    with pytest.raises(AnalysisError) as caught, failures_as("/run: cannot be judged"):
        raise error
    assert str(caught.value).startswith("/run: cannot be judged: ")
    assert "\n" not in str(caught.value)


@pytest.mark.spark
def test_an_exception_of_the_jvm_is_told(spark: SparkSession) -> None:
    """It is what the JVM said, not the number of the object that was called."""
    java: Any = spark._jvm
    with pytest.raises(AnalysisError, match=r"IndexOutOfBoundsException: Index 0 out of bounds"), failures_as("/run"):
        java.java.util.ArrayList().get(0)


def test_every_table_has_the_same_columns_in_spark_and_arrow() -> None:
    """Two schemas of one contract."""
    for name, table in TABLES.items():
        assert spark_schema(table).names == SCHEMAS[name].names


@pytest.mark.spark
def test_what_the_user_has_set_is_not_tuned(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of a started session follow the size of the run, except those that the user has made."""
    key = "spark.sql.shuffle.partitions"
    tune(spark, small=True)
    assert spark.conf.get(key) == "1"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {key}=1 pyspark-shell")
    tune(spark, small=False)
    assert spark.conf.get(key) == "1"
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS")
    tune(spark, small=False, rows=5)
    assert spark.conf.get(key) == "2", "one for each core"
    tune(spark, small=False, rows=95_000_000)
    assert spark.conf.get(key) == "10", "one for each ten million rows"
    tune(spark, small=True)
