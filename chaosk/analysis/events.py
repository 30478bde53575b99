"""The events of one run as DataFrames, and the frames that several checks share, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)
from pyspark.storagelevel import StorageLevel

from chaosk.analysis.case import Case
from chaosk.analysis.glances.rows import Rows
from chaosk.rundir.events import TABLES, Kind, Table

T = TypeVar("T")

SMALL = 500_000
"""Rows up to which a run is judged in one partition: shuffling so few costs more than it gains."""

GLANCED = 5_000_000
"""Rows up to which a run's rows are glanced at in numpy: about a gigabyte of them, a few seconds."""

_TYPES: dict[Kind, DataType] = {
    "long": LongType(),
    "int": IntegerType(),
    "short": ShortType(),
    "bool": BooleanType(),
    "string": StringType(),
    "ints": ArrayType(IntegerType(), containsNull=False),
    "double": DoubleType(),
}


def spark_schema(table: Table) -> StructType:
    """The Spark schema of an event table: its columns in order."""
    return StructType([StructField(c.name, _TYPES[c.kind], nullable=True) for c in table.columns])


class Events:
    """What a check asks: event tables by name, frames by the function that makes them, and the case."""

    def __init__(self, spark: SparkSession, case: Case, whole: Events | None = None) -> None:
        """``whole``: the run as it was recorded, if the case's is one in which former topics are told apart."""
        self.spark = spark
        self.case = case
        self.whole = whole or self
        """The same run with a topic that was made again as one."""
        self.count = sum(case.rows.values())
        """Rows of all tables."""
        self.small = self.count <= SMALL
        self._keeps = self.small and self._here()
        self.rows = Rows(case)
        """The same tables for glances, if ``glances``."""
        self.glances = self.count <= GLANCED
        self._tables: dict[str, DataFrame] = {}
        self._plans: dict[Callable[[Events], DataFrame], DataFrame] = {}
        self._frames: dict[Callable[[Events], DataFrame], DataFrame] = {}
        self._values: dict[Callable[[Events], Any], Any] = {}
        self._lock = RLock()  # a frame is often made of another one

    def _here(self) -> bool:
        """Whether Spark runs in this process's own JVM, so that no executor can be lost."""
        return (self.spark.sparkContext.master or "").startswith("local")

    def table(self, name: str) -> DataFrame:
        """An event table, with the columns of ``chaosk.rundir.events``; a table without rows costs no reading.

        An offset of ``sends`` is what a broker said it is: with ``acks=0`` none says any, whatever the client made up.
        """
        with self._lock:
            if name not in self._tables:
                path = self.case.events / f"{name}.parquet"
                rows = self.spark.read.schema(spark_schema(TABLES[name])).parquet(path.resolve().as_uri())
                rows = self._without_offsets(rows) if name == "sends" else rows
                self._tables[name] = self.gathered(rows if self.case.rows[name] else rows.limit(0))
            return self._tables[name]

    def _without_offsets(self, sends: DataFrame) -> DataFrame:
        """The table without the offsets of processes that no broker answers."""
        deaf = [f"{probe}/{incarnation}" for probe, incarnation in sorted(self.case.deaf)]
        if not deaf:
            return sends
        told = ~F.concat_ws("/", "probe", "incarnation").isin(deaf)
        return sends.withColumn("offset", F.when(told, F.col("offset")))

    def as_written(self, name: str) -> DataFrame:
        """An event table as it was written, for counting it."""
        path = self.case.events / f"{name}.parquet"
        rows = self.spark.read.schema(spark_schema(TABLES[name])).parquet(path.resolve().as_uri())
        return self.gathered(rows)

    def gathered(self, frame: DataFrame) -> DataFrame:
        """The frame in one partition if the run is small, so that nothing after it is shuffled."""
        return frame.coalesce(1) if self.small else frame

    def near(self, frame: DataFrame) -> DataFrame:
        """A frame of few rows as one side of a join: sent to all workers, or hashed in place in the one partition.

        Without a word Spark would sort both sides.
        """
        return frame.hint("shuffle_hash") if self.small else F.broadcast(frame)

    def plan(self, make: Callable[[Events], DataFrame]) -> DataFrame:
        """What ``make(events)`` gives: planned once, computed by every job that needs it. See ``planned_once``.

        Of a small run it is computed once and kept, as a ``frame`` is.
        """
        if self._keeps:
            return self.frame(make)
        with self._lock:
            if make not in self._plans:
                self._plans[make] = make(self)
            return self._plans[make]

    def frame(self, make: Callable[[Events], DataFrame]) -> DataFrame:
        """What ``make(events)`` gives, computed once and kept.

        Of a small run without the plan that made it: every step after it would be planned with that again, which takes
        longer than all the rows. In a cluster with the plan: an executor that is lost takes its part of the rows along.
        """
        with self._lock:
            if make not in self._frames:
                made = self.gathered(make(self))
                if self._keeps:
                    self._frames[make] = made.localCheckpoint()
                else:
                    self._frames[make] = made.persist(StorageLevel.MEMORY_AND_DISK)
                    if not self.small:
                        made.count()  # from then on Spark knows how large it is, and plans for that
            return self._frames[make]

    def once(self, make: Callable[[Events], T]) -> T:
        """What ``make(events)`` gives, computed once: counts and histograms that several checks and guards use."""
        with self._lock:
            if make not in self._values:
                self._values[make] = make(self)
            found: T = self._values[make]
            return found

    def release(self) -> None:
        """Forget the kept frames."""
        if self.whole is not self:
            self.whole.release()
        for frame in self._frames.values():
            frame.unpersist()
        self._frames.clear()


def planned_once(make: Callable[[Events], DataFrame]) -> Callable[[Events], DataFrame]:
    """For frames that many queries start from: building a plan is a hundred calls into the JVM, and not quick."""

    @wraps(make)
    def planned(events: Events) -> DataFrame:
        return events.plan(make)

    return planned
