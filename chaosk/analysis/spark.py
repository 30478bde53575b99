"""Spark's session: the only module that starts the JVM; it turns the JVM's failures into one clear error.

The user's Spark configuration (``spark-defaults.conf``, ``PYSPARK_SUBMIT_ARGS``, ``SPARK_*`` variables) has precedence.
Our defaults fill in the rest, and suit a log of a few minutes judged on the machine that ran it.
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

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from chaosk.analysis import classes, java_names
from chaosk.core.errors import AnalysisError
from chaosk.hosts.java import require_java

PER_PARTITION = 10_000_000
"""Rows per partition, if that gives more partitions than cores: more partitions are more tasks to plan and to start."""
INTERPRETED = 10_000
"""Rows up to which expressions are interpreted: compiling a query costs more than so few rows gain."""
LARGE = 5_000_000
"""Rows from which the optimizing compiler and more memory pay off."""

_COMMON = {
    "spark.app.name": "chaosk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    # Plan descriptions for the disabled user interface took a sixth of the time of a short judgement.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.debug.maxToStringFields": "3",
    # One judgement compiles about 400 classes; the default cache of 100 would compile each again and again.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # A verdict must not hide an overflow.
    "spark.sql.ansi.enabled": "true",
}
_JAVA = "spark.driver.extraJavaOptions"
_JVM_SMALL = {
    "spark.driver.memory": "1g",
    # Every join, sort and aggregation of a query takes a page; fifty of the default 32 MB exceeded the heap.
    "spark.buffer.pageSize": "1m",
    # The first tier compiles at once; the optimizing one does not pay off within a short judgement.
    _JAVA: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m",
}
_JVM_LARGE = {
    "spark.driver.memory": "4g",
    "spark.sql.files.maxPartitionBytes": "256m",
    # A judgement is a hundred queries, each compiled to its own classes. The optimizing compiler took half of the
    # processor time for ten million events. So its thresholds are ten times the JVM's defaults.
    _JAVA: (
        "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
        "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
    ),
}
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    # In one partition a join needs no broadcast, which is a separate job.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Replanning after each stage takes longer than a stage of a small run.
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
    """Set options for a run of this size, as far as a started session permits and the user has not set them."""
    users = user_settings()
    partitions = max(spark.sparkContext.defaultParallelism, -(-rows // PER_PARTITION))
    large = {"spark.sql.shuffle.partitions": str(partitions), **_NOT_SMALL}
    how = _INTERPRETED if small and rows <= INTERPRETED else _COMPILED
    for key, value in ((_SMALL if small else large) | how).items():
        if key not in users:
            spark.conf.set(key, value)


def session(master: str | None = None, *, large: bool = False, java: str | None = None) -> SparkSession:
    """Return a session: at ``master``, else as in the user's configuration, else on this machine's cores.

    ``java`` has further options for its JVM; without it, the JVM starts from the archive of classes if there is one.
    Raises PreflightError if there is no Java, and AnalysisError if Spark does not start.
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
                java_names.remember(spark)
        except (Py4JError, PySparkException, OSError, RuntimeError) as error:
            words.seek(0)
            said = words.read().decode("utf-8", "replace").strip().splitlines()
            raise AnalysisError(
                f"Spark does not start at {where}: {_first_line(error)}; {' / '.join(said[-3:])}; "
                "see that the master answers and that java is version 17 or 21"
            ) from error
    return spark


def user_settings() -> dict[str, str]:
    """Return the user's Spark settings from ``spark-defaults.conf`` and ``PYSPARK_SUBMIT_ARGS``."""
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
    """Turn Spark's exceptions (a damaged file, no memory, a dead JVM) into an AnalysisError with ``doing``."""
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
    """Return what an exception says; of one in the JVM what it says there, and not which object was called."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, Py4JJavaError):
        lines = [line.removeprefix(": ") for line in lines[1:]]
    return lines[0][:300] if lines else type(error).__name__


@contextmanager
def _streams_into(target: int) -> Iterator[None]:
    """Redirect stdout and stderr while the JVM starts, since it inherits them; ours stay free of its output."""
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
