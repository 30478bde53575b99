"""Connections of clients to brokers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, during, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Measure

_PLACE = ("probe", "client", "role", "broker", "address")


@dataclass(frozen=True, slots=True)
class Moment:
    """Changes of a process's connections at one time in monotonic nanoseconds."""

    incarnation: int
    at: int
    opened: int
    closed: int
    failed: int
    idle: int


class Connections(Check):
    """Number of connections that clients opened and kept, by role and broker; for probes with ``connections: true``.

    D9. One row for each endpoint and role: bootstrap (a client's first connection, which it uses for metadata and keeps
    for data), coordinator of its group or its transactions, or data. A change that occurred between two samples, a
    quarter of a second apart, counts from the first of them. ``left`` is the number of connections of the probe's last
    process when it was last sampled. Connections of a killed process count until its successor starts.

    Columns: probe, client, role, broker, address, opened, closed, idle (of those closed, after
    ``connections.max.idle.ms`` without traffic), failed (attempts), left.
    """

    rule = "D9"
    title = "clients' connections by role and broker"
    counted = ("place that clients connected to", "places that clients connected to")
    metrics = (
        "connections_opened",
        "connections_failed",
        "connections_idle_closed",
        "connections_peak",
        "connections_open",
    )
    tables = ("connections", "incarnations")
    order = _PLACE

    def glance(self, rows: EventRows) -> bool:
        """Return True if any client's connections were sampled."""
        return rows.count("connections") > 0

    def violations(self, events: Events) -> DataFrame:
        """Return endpoints as information; an objective decides whether there are too many connections."""
        last = F.max("incarnation").over(Window.partitionBy("probe"))
        rows = events.table("connections").withColumn("last", F.col("incarnation") == last)
        kept = _counted("opened") - _counted("closed")
        return (
            rows.groupBy(*_PLACE)
            .agg(
                *(F.sum(_counted(event)).alias(event) for event in ("opened", "closed", "failed")),
                F.sum(F.when(F.col("idle"), F.col("count")).otherwise(0)).alias("idle"),
                F.sum(F.when(F.col("last"), kept).otherwise(0)).alias("left"),
            )
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumns(during(None, None))
            .select(*MEANING, *_PLACE, "opened", "closed", "idle", "failed", "left")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - they need times
        """Yield ``connections_*`` of each sampled probe and each window."""
        if not events.case.rows["connections"]:
            return
        for probe, moments in sorted(_moments(events).items()):
            steps = list(_steps(events.case, probe, moments))
            for window in events.case.windows:
                yield from _figures(probe, window, moments, steps)


def _counted(event: str) -> Column:
    return F.when(F.col("event") == event, F.col("count")).otherwise(0)


def _moments(events: Events) -> dict[str, list[Moment]]:
    """Return the changes by probe; as many as there were changes of connections, which the sampling rate bounds."""
    rows = (
        events.table("connections")
        .groupBy("probe", "incarnation", F.coalesce("at", "since").alias("time"))
        .agg(
            *(F.sum(_counted(event)).alias(event) for event in ("opened", "closed", "failed")),
            F.sum(F.when(F.col("idle"), F.col("count")).otherwise(0)).alias("idle"),
        )
    )
    found: dict[str, list[Moment]] = {}
    for row in rows.collect():
        moment = Moment(row["incarnation"], row["time"], row["opened"], row["closed"], row["failed"], row["idle"])
        found.setdefault(row["probe"], []).append(moment)
    return found


def _steps(case: Case, probe: str, moments: Iterable[Moment]) -> Iterator[tuple[int, int]]:
    """Yield (time, number of the probe's connections from then on) by time; an older process has none any more."""
    starts = [(w.started, w.incarnation, 0) for w in case.workers if w.probe == probe]
    changes = [(m.at, m.incarnation, m.opened - m.closed) for m in moments]
    current, count = -1, 0
    for at, incarnation, change in sorted([*starts, *changes]):
        if incarnation < current:
            continue
        count = change if incarnation > current else count + change
        current = incarnation
        yield at, count


def _figures(
    probe: str, window: TimeSpan, moments: Iterable[Moment], steps: Iterable[tuple[int, int]]
) -> Iterable[Measure]:
    mine = [m for m in moments if window.began <= m.at < window.ended]
    before = [count for at, count in steps if at < window.began][-1:]
    during_it = [count for at, count in steps if window.began <= at < window.ended]
    known = before + during_it
    yield measured("connections_opened", probe, window.name, sum(m.opened for m in mine))
    yield measured("connections_failed", probe, window.name, sum(m.failed for m in mine))
    yield measured("connections_idle_closed", probe, window.name, sum(m.idle for m in mine))
    yield measured("connections_peak", probe, window.name, max(known, default=0))
    yield measured("connections_open", probe, window.name, known[-1] if known else 0)
