"""Spark's session: the one module that starts the JVM, and turns what goes wrong in it into one clear error.

What the user's Spark configuration says (``spark-defaults.conf``, ``PYSPARK_SUBMIT_ARGS``, ``SPARK_*`` variables)
holds. Our own defaults fill in what it leaves open, and suit a log of a few minutes judged on the machine that ran it.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from chaosk.analysis import classes, javanames
from chaosk.core.errors import AnalysisError
from chaosk.hosts.java import require_java

PER_PARTITION = 10_000_000
"""Rows for which there is one more partition than there are cores: more of them are more tasks to plan and to start."""
INTERPRETED = 10_000
"""Rows up to which expressions are interpreted: compiling a query costs more than so few rows gain."""
LARGE = 5_000_000
"""Rows from which on a run is worth the optimizing compiler and more memory."""

_COMMON = {
    "spark.app.name": "chaosk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    # Describing each query for a user interface that is off took a sixth of the time of a short judgement.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.debug.maxToStringFields": "3",
    # One judgement compiles some 400 classes; the default keeps 100, so each would be compiled again and again.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # A verdict must not hide an overflow.
    "spark.sql.ansi.enabled": "true",
}
_JAVA = "spark.driver.extraJavaOptions"
_JVM_SMALL = {
    "spark.driver.memory": "1g",
    # Every join, sort and aggregation of a query takes a page; fifty of the usual 32 MB were more than the heap.
    "spark.buffer.pageSize": "1m",
    # The first tier compiles at once: the optimizing one has not paid for itself when a short judgement is over.
    _JAVA: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m",
}
_JVM_LARGE = {
    "spark.driver.memory": "4g",
    "spark.sql.files.maxPartitionBytes": "256m",
    # A judgement is a hundred queries, each compiled to classes of its own. The optimizing compiler took half of all
    # processor time of ten million events: what it optimizes has to be ten times as busy as the JVM would have it.
    _JAVA: (
        "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
        "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
    ),
}
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    # In one partition a join needs no broadcast, which is a job of its own.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Planning anew after each stage costs more than a stage of a small run takes.
    "spark.sql.adaptive.enabled": "false",
}
_NOT_SMALL = {
    "spark.sql.autoBroadcastJoinThreshold": "10485760",
    "spark.sql.adaptive.enabled": "true",
}
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


def tune(spark: SparkSession, *, small: bool, rows: int = 0) -> None:
    """Set what suits a run of so many rows, as far as a started session lets it be set and the user has set nothing."""
    users = user_settings()
    partitions = max(spark.sparkContext.defaultParallelism, -(-rows // PER_PARTITION))
    large = {"spark.sql.shuffle.partitions": str(partitions), **_NOT_SMALL}
    how = _INTERPRETED if small and rows <= INTERPRETED else _COMPILED
    for key, value in ((_SMALL if small else large) | how).items():
        if key not in users:
            spark.conf.set(key, value)


def session(master: str | None = None, *, large: bool = False, java: str | None = None) -> SparkSession:
    """The session to judge with: at ``master``, or where the user's configuration says, or on this machine's cores.

    ``java`` are more options for its JVM; without any it starts from the archive of classes if there is one. Raises
    PreflightError where there is no Java, AnalysisError where Spark does not start.
    """
    require_java()
    users = user_settings()
    where = master or users.get("spark.master", "local[2]" if not large else "local[*]")
    if where.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {**_COMMON, **(_JVM_LARGE if large else _JVM_SMALL)}
    settings[_JAVA] += f" {classes.options() if java is None else java}"
    builder = SparkSession.builder.master(where)
    for key, value in settings.items():
        if key not in users:
            builder = builder.config(key, value)
    with tempfile.TemporaryFile() as words:
        try:
            with _streams_into(words.fileno()):
                spark = builder.getOrCreate()
                javanames.remember(spark)
        except (Py4JError, PySparkException, OSError, RuntimeError) as error:
            words.seek(0)
            said = words.read().decode("utf-8", "replace").strip().splitlines()
            raise AnalysisError(
                f"Spark does not start at {where}: {_first_line(error)}; {' / '.join(said[-3:])}; "
                "see that the master answers and that java is version 17 or 21"
            ) from error
    return spark


def user_settings() -> dict[str, str]:
    """Spark settings the user has made: from ``spark-defaults.conf`` and ``PYSPARK_SUBMIT_ARGS``."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else None)
    file = Path(folder) / "spark-defaults.conf" if folder else None
    lines = file.read_text("utf-8").splitlines() if file is not None and file.is_file() else []
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    settings = {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
    return settings | _submit_settings(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))


def _submit_settings(words: list[str]) -> dict[str, str]:
    named = {"--master": "spark.master", "--driver-memory": "spark.driver.memory", "--name": "spark.app.name"}
    settings: dict[str, str] = {}
    for word, value in pairwise(words):
        if word in ("--conf", "-c") and "=" in value:
            key, _, text = value.partition("=")
            settings[key] = text
        elif word in named:
            settings[named[word]] = value
    return settings


@contextmanager
def failures_as(doing: str) -> Iterator[None]:
    """Turn what Spark raises (a damaged file, no memory, a JVM that died) into an AnalysisError with ``doing``."""
    try:
        yield
    except PySparkException as error:
        raise AnalysisError(f"{doing}: {_first_line(error)}") from error
    except (Py4JError, ConnectionError, EOFError) as error:
        raise AnalysisError(
            f"{doing}: {_first_line(error)}; if Spark's JVM died, give it more memory "
            "(spark.driver.memory in spark-defaults.conf) and judge again with `chaosk analyze`: the events are intact"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


@contextmanager
def _streams_into(target: int) -> Iterator[None]:
    """Point stdout and stderr elsewhere while the JVM starts, which inherits them: ours stay clean for good."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
