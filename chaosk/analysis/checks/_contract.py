"""Base class of all checks, and helpers for the columns that every check returns.

A check returns a DataFrame of rows that break its rule, and figures. The analysis sorts the rows, writes the evidence,
names the faults that overlap them, and passes the counts to the judge. Each row has these columns besides its own:

==========  =======  =====================================================================================
column      type     meaning
==========  =======  =====================================================================================
severity    string   ``violation``, ``allowed`` (a setting excuses it), ``information``, or ``unproven``
                     (possible, but the evidence does not suffice): that makes the run INCONCLUSIVE
reason      string   reason why it is allowed, or the missing evidence; empty for a violation
began       long     earliest time of the anomaly, monotonic nanoseconds; empty if unknown
ended       long     latest time of the anomaly, likewise
==========  =======  =====================================================================================
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Measure

MEANING = ("severity", "reason", "began", "ended")
"""Columns that every check's rows have."""


class Check(ABC):
    """One rule: the module's name is the check's name, and its docstring defines the rule and cites the source."""

    rule: ClassVar[str]
    """Id of the rule in the definitions, like ``A4``."""
    also: ClassVar[tuple[str, ...]] = ()
    """Further rules that this check judges."""
    title: ClassVar[str]
    """Short description of its rows."""
    counted: ClassVar[tuple[str, str]]
    """Singular and plural noun for its rows, like ``("record lost", "records lost")``."""
    metrics: ClassVar[tuple[str, ...]] = ()
    """Names of the metrics that it measures, of ``chaosk.spec.metrics``; it may measure no other."""
    tables: ClassVar[tuple[str, ...]]
    """Event tables that it reads."""
    by_absence_of: ClassVar[tuple[str, ...]] = ()
    """Tables of which a missing row can produce rows of this check. If a run is known to lack rows of one of these
    tables, the check's rows are ``unproven``."""
    by_waiting: ClassVar[bool] = False
    """True if its rows state that a probe did not do something in time. If chaosk itself stalled one of these probes,
    the rows are ``unproven``."""
    order: ClassVar[tuple[str, ...]] = ()
    """Columns that sort its rows without ties."""
    screens: ClassVar[tuple[str, ...]] = ()
    """Names from ``chaosk.analysis.screens``. If none of these screens finds anything, the check has no rows."""
    suspects: ClassVar[tuple[str, ...]] = ()
    """Known client defects with the same symptom."""
    as_recorded: ClassVar[bool] = False
    """True to treat a topic that was deleted and recreated as one topic, because the measured quantity continues."""
    clock_error: ClassVar[float | None] = None
    """Tolerated clock error of hosts in seconds; None if it compares no host's clock."""

    def glance(self, rows: EventRows) -> bool:  # noqa: ARG002 - for those that override it
        """Return False if it certainly has no rows; small runs ask this before Spark is started.

        True is always allowed. A check with cheap rows, or with rows in every run, need not override it.
        """
        return True

    def plain(self, events: Events) -> FewRows | None:  # noqa: ARG002 - for those that override it
        """Return its rows as plain values, without Spark; None if it needs Spark for them.

        It is asked of runs of ordinary size, or of any run if the check has no query for Spark.
        """
        return None

    def violations(self, events: Events) -> DataFrame | None:  # noqa: ARG002 - for those that override it
        """Return the rows that break the rule, with the columns of ``MEANING`` first; None if there are none.

        A check that only measures does not override it.
        """
        return None

    def unjudged(self, events: Events) -> str | None:  # noqa: ARG002 - for those that override it
        """Return the reason why a run without findings was not judged, or only in part; None if it was judged in full.

        Used for evidence that is optional. Guards report the lack of evidence that every verdict needs.
        """
        return None

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - for those that override it
        """Return its figures.

        Spark may not have started yet: it starts as ``events`` is asked for a table or a frame, and only then can
        columns be named.
        """
        return ()


def meaning(*cases: tuple[Column, str, str | None], otherwise: tuple[str, str | None]) -> dict[str, Column]:
    """Return columns severity and reason from (condition, severity, reason); the first condition that holds decides."""
    severity, reason = F.lit(otherwise[0]), F.lit(otherwise[1]).cast("string")
    for condition, word, why in reversed(cases):
        holds = F.coalesce(condition, F.lit(False))
        severity = F.when(holds, F.lit(word)).otherwise(severity)
        reason = F.when(holds, F.lit(why).cast("string")).otherwise(reason)
    return {"severity": severity, "reason": reason}


def during(began: str | Column | None, ended: str | Column | None) -> dict[str, Column]:
    """Return the columns began and ended; null where None is given."""
    unknown = F.lit(None).cast("long")
    times = {"began": began, "ended": ended}
    return {
        name: unknown if time is None else F.col(time) if isinstance(time, str) else time
        for name, time in times.items()
    }


INFORMATION = ("information", None)
"""For ``meaning``: rows of interest that break no rule."""


def informing(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return plain rows with ``MEANING`` first, as information; each row has began and ended."""
    return [
        {"severity": "information", "reason": None, "began": row["began"], "ended": row["ended"]}
        | {name: value for name, value in row.items() if name not in MEANING}
        for row in rows
    ]


def among(column: Column, names: Iterable[str]) -> Column:
    """Return a boolean column: the value is one of the names; false if there are none."""
    return column.isin(sorted(names))
