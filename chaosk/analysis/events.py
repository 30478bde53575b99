"""Events of one run as DataFrames, and frames that several checks share, each computed once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from threading import RLock
from typing import Any, TypeVar, cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
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
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.events import TABLES, Kind, Table

T = TypeVar("T")

SMALL = 500_000
"""Rows up to which a run is judged in one partition: shuffling so few costs more than it gains."""

GLANCED = 25_000_000
"""Rows up to which the rows of a run are read with numpy, if a third of the machine's memory holds them."""

_ROW = 200
"""Bytes of memory that numpy takes for each row of a run, measured at twenty million."""

_NUMBERS = 1000
"""Most numbers to which a condition compares a column."""

_TYPES: dict[Kind, DataType] = {
    "time": LongType(),
    "long": LongType(),
    "int": IntegerType(),
    "short": ShortType(),
    "bool": BooleanType(),
    "string": StringType(),
    "ints": ArrayType(IntegerType(), containsNull=False),
    "double": DoubleType(),
}


def spark_schema(table: Table) -> StructType:
    """Return the Spark schema of an event table: its columns in order."""
    return StructType([StructField(c.name, _TYPES[c.kind], nullable=True) for c in table.columns])


class Events:
    """Input of checks: event tables by name, shared frames by the function that makes them, and the case."""

    def __init__(
        self, spark: SparkSession | Callable[[], SparkSession], case: Case, whole: Events | None = None
    ) -> None:
        """Take a session, or a function that returns it when a check needs Spark, which many runs do not.

        ``whole``: the run as recorded, if the case has separate partitions for recreated topics.
        """
        self._session = spark
        self.case = case
        self.whole = whole or self
        """The same run with a recreated topic as one."""
        self.count = sum(case.rows.values())
        """Rows of all tables."""
        self.small = self.count <= SMALL
        self.rows = EventRows(case)
        """The same tables for glances, if ``glances``."""
        self.glances = self.count <= min(GLANCED, _memory() // 3 // _ROW)
        self._tables: dict[str, DataFrame] = {}
        self._plans: dict[Callable[[Events], DataFrame], DataFrame] = {}
        self._frames: dict[Callable[[Events], DataFrame], DataFrame] = {}
        self._kept: list[DataFrame] = []
        self._values: dict[Callable[[Events], Any], Any] = {}
        self._lock = RLock()  # frames may be made of other frames

    @cached_property
    def spark(self) -> SparkSession:
        """Return the session, which starts now if it has not before."""
        with self._lock:
            return self._session() if callable(self._session) else self._session

    @cached_property
    def _keeps(self) -> bool:
        """Return True if Spark runs in this process's own JVM, so that no executor can be lost."""
        return (self.spark.sparkContext.master or "").startswith("local")

    def table(self, name: str) -> DataFrame:
        """Return an event table, with the columns of ``chaosk.rundir.events``; an empty table is not read.

        Offsets of ``sends`` with ``acks=0``, and of those that ended with an error, are null: no broker reported them,
        and the client's are invented. librdkafka counts the records of a refused batch up from -1.
        """
        with self._lock:
            if name not in self._tables:
                path = self.case.events / f"{name}.parquet"
                rows = self.spark.read.schema(spark_schema(TABLES[name])).parquet(path.resolve().as_uri())
                rows = self.without_offsets(rows) if name == "sends" else rows
                self._tables[name] = self.gathered(rows if self.case.rows[name] else rows.limit(0))
            return self._tables[name]

    def without_offsets(self, sends: DataFrame) -> DataFrame:
        """Remove the offsets of processes with ``acks=0``, and of sends that ended with an error."""
        deaf = [f"{probe}/{incarnation}" for probe, incarnation in sorted(self.case.deaf)]
        told = F.col("error").isNull() & (F.col("outcome") != "fail")
        if deaf:
            told = told & ~F.concat_ws("/", "probe", "incarnation").isin(deaf)
        return sends.withColumn("offset", F.when(told, F.col("offset")))

    def as_written(self, name: str) -> DataFrame:
        """Return an event table as it was written, for counting it."""
        path = self.case.events / f"{name}.parquet"
        rows = self.spark.read.schema(spark_schema(TABLES[name])).parquet(path.resolve().as_uri())
        return self.gathered(rows)

    def local(self, rows: Sequence[Sequence[Any]], schema: str) -> DataFrame:
        """Return a frame of a few rows that are here, with the columns of a schema like ``topic string, at long``.

        They go to Spark as Arrow. Made of Python's rows, each job that reads them would start a Python process.
        """
        fields = cast("StructType", StructType.fromDDL(schema))
        columns = zip(*rows, strict=True) if rows else [()] * len(fields)
        arrow = to_arrow_schema(fields)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, arrow, strict=True)]
        return self.spark.createDataFrame(pa.Table.from_arrays(arrays, schema=arrow), fields)

    def gathered(self, frame: DataFrame) -> DataFrame:
        """Return the frame in one partition if the run is small, so that later steps need no shuffle."""
        return frame.coalesce(1) if self.small else frame

    def near(self, frame: DataFrame) -> DataFrame:
        """Mark a frame of few rows for a join: broadcast, or hashed in place within one partition.

        Otherwise Spark would sort both sides.
        """
        return frame.hint("shuffle_hash") if self.small else F.broadcast(frame)

    def plan(self, make: Callable[[Events], DataFrame]) -> DataFrame:
        """Return ``make(events)``, planned once and computed by every job that needs it. See ``planned_once``.

        In a small run it is computed once and kept, as a ``frame`` is.
        """
        if self.small and self._keeps:
            return self.frame(make)
        with self._lock:
            if make not in self._plans:
                self._plans[make] = make(self)
            return self._plans[make]

    def frame(self, make: Callable[[Events], DataFrame]) -> DataFrame:
        """Return ``make(events)``, computed once and kept.

        On one machine it is kept without its plan: planning later steps with that plan took five times as long as
        reading two million rows. In a cluster it is kept with its plan, since a lost executor loses its part of them.
        """
        with self._lock:
            if make not in self._frames:
                made = self.gathered(make(self))
                if self._keeps:
                    self._frames[make] = made.localCheckpoint()
                else:
                    self._frames[make] = made.persist(StorageLevel.MEMORY_AND_DISK)
                    if not self.small:
                        made.count()  # tells Spark its size, for later plans
            return self._frames[make]

    def kept(self, frame: DataFrame) -> DataFrame:
        """Return a frame of few rows, computed once, for a query that starts from it in several places.

        Otherwise Spark computes it anew in each place, all at the same time: for ten million rows no memory suffices.
        """
        if self.small:
            return frame
        if self._keeps:
            return frame.localCheckpoint()
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        kept.count()  # tells Spark its size, for later plans
        with self._lock:
            self._kept.append(kept)
        return kept

    def is_one_of(self, column: Column, numbers: DataFrame) -> Column:
        """Return a condition that a column may be one of the frame's numbers: always true if these are many.

        Numbers are compared much faster than the names in the keys of a join, so a long run is filtered by them first.
        """
        found = [row[0] for row in numbers.distinct().limit(_NUMBERS + 1).collect()]
        return column.isin(found) if len(found) <= _NUMBERS else F.lit(True)

    def once(self, make: Callable[[Events], T]) -> T:
        """Return ``make(events)``, computed once: counts and histograms that several checks and guards use."""
        with self._lock:
            if make not in self._values:
                self._values[make] = make(self)
            found: T = self._values[make]
            return found

    def release(self) -> None:
        """Release the kept frames."""
        if self.whole is not self:
            self.whole.release()
        for frame in (*self._frames.values(), *self._kept):
            frame.unpersist()
        self._frames.clear()
        self._kept.clear()


def _memory() -> int:
    """Return the bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def planned_once(make: Callable[[Events], DataFrame]) -> Callable[[Events], DataFrame]:
    """Decorate a frame that many queries start from to be planned once: planning takes a hundred calls into the JVM."""

    @wraps(make)
    def planned(events: Events) -> DataFrame:
        return events.plan(make)

    return planned
