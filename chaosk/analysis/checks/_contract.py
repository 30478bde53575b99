"""What a check is: a question to the events, whose answer is the rows that break its rule, and figures.

A check answers with a DataFrame; the analysis sorts it, keeps the evidence, names the faults that the rows overlap
and hands the counts to the judge. Besides its own columns each row says what it means:

==========  =======  =====================================================================================
column      type     meaning
==========  =======  =====================================================================================
severity    string   ``violation``, ``allowed`` (a setting excuses it), ``information``, or ``unproven``
                     (it may be one, but the evidence does not carry): that makes the run INCONCLUSIVE
reason      string   why it is allowed, or what the evidence lacks; empty for a violation
began       long     from when on the anomaly may have arisen, monotonic nanoseconds; empty if unknown
ended       long     until when
==========  =======  =====================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.glances.rows import Rows
from chaosk.rundir.verdict import Measure

MEANING = ("severity", "reason", "began", "ended")
"""Columns that every check's rows have."""


class Check(ABC):
    """One rule. Its name is its file name; its docstring says what breaks it and where the definition is from."""

    rule: ClassVar[str]
    """Id of the rule in the definitions, like ``A4``."""
    also: ClassVar[tuple[str, ...]] = ()
    """Rules that it judges besides."""
    title: ClassVar[str]
    """What it looks for, in a few words."""
    counted: ClassVar[tuple[str, str]]
    """What its rows are, for one and for many, like ``("record lost", "records lost")``."""
    tables: ClassVar[tuple[str, ...]]
    """The event tables it asks."""
    by_absence_of: ClassVar[tuple[str, ...]] = ()
    """Those of them in which a row that is missing makes rows of this check: a run that is known to lack rows of one
    proves none of them, and they are ``unproven``."""
    by_waiting: ClassVar[bool] = False
    """Whether its rows say that probes did not do something in the time they had: where one of them stood still by
    chaosk's own trouble they are ``unproven``."""
    order: ClassVar[tuple[str, ...]] = ()
    """Columns that put its rows into an order without ties."""
    screens: ClassVar[tuple[str, ...]] = ()
    """Names of ``chaosk.analysis.screens``: where none of them found anything, the check has no rows."""
    suspects: ClassVar[tuple[str, ...]] = ()
    """Known defects of clients that look the same."""
    as_recorded: ClassVar[bool] = False
    """Whether a topic that was made again stays one topic to it, because what it measures goes on."""
    clock_error: ClassVar[float | None] = None
    """How many seconds the clocks of hosts may be off for it; None if it compares no host's clock."""

    def glance(self, rows: Rows) -> bool:  # noqa: ARG002 - for those that override it
        """Whether it may have rows at all, asked of small runs before Spark is; False is a promise that it has none.

        It may say True too often. A check whose rows cost nothing, or are there in every run, does without.
        """
        return True

    @abstractmethod
    def violations(self, events: Events) -> DataFrame | None:
        """The rows that break the rule, with the columns of ``MEANING``; None if it only measures."""

    def unjudged(self, events: Events) -> str | None:  # noqa: ARG002 - for those that override it
        """Why it judged nothing, or not all, of a run in which it found nothing; None where it did.

        For evidence that a run may lack and be judged all the same; what a verdict cannot do without is for guards.
        """
        return None

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - for those that override it
        """The figures it gives."""
        return ()


def meaning(*cases: tuple[Column, str, str | None], otherwise: tuple[str, str | None]) -> dict[str, Column]:
    """The columns severity and reason from (condition, severity, reason), the first that holds counting."""
    severity, reason = F.lit(otherwise[0]), F.lit(otherwise[1]).cast("string")
    for condition, word, why in reversed(cases):
        holds = F.coalesce(condition, F.lit(False))
        severity = F.when(holds, F.lit(word)).otherwise(severity)
        reason = F.when(holds, F.lit(why).cast("string")).otherwise(reason)
    return {"severity": severity, "reason": reason}


def during(began: str | Column | None, ended: str | Column | None) -> dict[str, Column]:
    """The columns began and ended; None where nobody knows."""
    unknown = F.lit(None).cast("long")
    times = {"began": began, "ended": ended}
    return {
        name: unknown if time is None else F.col(time) if isinstance(time, str) else time
        for name, time in times.items()
    }


INFORMATION = ("information", None)
"""For ``meaning``: rows that are worth knowing and never wrong by themselves."""


def among(column: Column, names: Iterable[str]) -> Column:
    """Whether a column is one of some names; never true for none."""
    return column.isin(sorted(names))
