"""Successes of clients that the scenario expects to fail."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.must_fail_windows import MustFailWindow, failing, meant

_NEVER = "it tried nothing in its must_fail period, so nothing shows that it would have failed"
_NOT_YET = "its must_fail period never came: the entry was not carried out, or no client took over from it"
_TRIED = {
    "sends": ("invoked", "completed", "outcome = 'ok'"),
    "polls": ("invoked", "completed", "records > 0"),
    "commits": ("invoked", "completed", "outcome = 'ok'"),
    "calls": ("began", "completed", "outcome = 'ok'"),
    "health_checks": ("due", "closed", "outcome = 'ok'"),
}
"""By table: start and end of an attempt, and the condition of its success."""


class UnexpectedSuccess(Check):
    """A client with ``must_fail`` succeeded: a send, a poll with records, a commit, a call or a health check.

    C6. Every attempt that a probe begins in its ``must_fail`` period must fail. Its failures are then expected, and no
    other rule requires its progress. A probe without an attempt is unproven; a fencing error counts as an attempt.

    Columns: probe, incarnation, what (the table of the attempts), attempts, successes, first, last (of the successes).
    """

    rule = "C6"
    title = "successes of clients that must fail"
    counted = ("client that succeeded where it must fail", "clients that succeeded where they must fail")
    tables = ("sends", "polls", "commits", "calls", "health_checks")
    order = ("probe", "incarnation", "what")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any probe must fail."""
        return bool(meant(rows.case))

    def violations(self, events: Events) -> DataFrame | None:
        """Return successes by process and kind of attempt, and probes without any attempt."""
        planned, spans = meant(events.case), failing(events.case)
        if not planned:
            return None
        tried = [_tried(events, table, list(spans.values())) for table in _TRIED if events.case.rows[table] and spans]
        rows = [row.asDict() for frame in tried for row in frame.collect()]
        fenced = {probe for probe in spans if planned[probe].fenced}  # the fenced request was an attempt
        shown = fenced | {row["probe"] for row in rows}
        silent = [
            {"probe": probe, "reason": _NEVER if probe in spans else _NOT_YET}
            for probe in planned
            if probe not in shown
        ]
        found = [row for row in rows if row["successes"]] + silent
        frame = events.local([tuple(row.get(name) for name in _COLUMNS) for row in found], _SCHEMA)
        late = meaning((F.col("reason").isNotNull(), "unproven", None), otherwise=("violation", None))
        return (
            events.gathered(frame)
            .withColumn("severity", late["severity"])
            .withColumns(during("first", "last"))
            .select(*MEANING, *MEMBER, "what", "attempts", "successes", "first", "last")
        )


_COLUMNS = ("probe", "incarnation", "what", "attempts", "successes", "first", "last", "reason")
_SCHEMA = (
    "probe string, incarnation int, what string, attempts long, successes long, first long, last long, reason string"
)


def _tried(events: Events, table: str, spans: list[MustFailWindow]) -> DataFrame:
    """Count attempts and successes in the ``must_fail`` periods, by process."""
    began, ended, succeeded = _TRIED[table]
    at = F.col(began)
    asked, late = F.lit(False), F.lit(False)
    for span in spans:
        mine = F.col("probe") == span.probe
        asked = asked | (mine & _between(at, span.began, span.ended))
        late = late | (mine & _between(at, span.since, span.ended))
    one_too_many = late & F.expr(succeeded)
    return (
        events.table(table)
        .filter(asked)
        .groupBy(*MEMBER)
        .agg(
            F.count("*").alias("attempts"),
            F.count_if(one_too_many).alias("successes"),
            F.min(F.when(one_too_many, at)).alias("first"),
            F.max(F.when(one_too_many, F.coalesce(F.col(ended), at))).alias("last"),
        )
        .withColumn("what", F.lit(table))
    )


def _between(at: Column, began: int, ended: int) -> Column:
    return (at >= began) & (at < ended)
