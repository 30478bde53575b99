"""Which errors clients met, and whether they are those that the scenario names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.analysis.windows import Segments
from chaosk.rundir.verdict import Measure

Counts = Counter[tuple[str, str, str]]
"""By probe, window and name of the error how many."""
_TABLES = {"errors": "at", "sends": "completed", "polls": "completed", "commits": "completed", "calls": "completed"}
"""The tables whose rows may name an error, and when it was met."""


class ClientErrors(Check):
    """Errors that a probe's clients met: those reported outside of any call, and those that calls came back with.

    D12: counted are the rows that name one, of errors, and of sends, polls, commits and calls that failed or whose fate
    is unknown, in the window that the error came in; a poll that brought several counts for each. What was not
    answered when the probe ended has no time, and counts in no window. Where the scenario says which ``errors`` a probe
    is to meet, an error is *unexpected* if it is none of those that must or may come, and one is *missing* if it must
    come and did not. Names are librdkafka's.
    """

    rule = "D12"
    title = "errors that clients met"
    counted = ("error", "errors")
    tables = tuple(_TABLES)

    def violations(self, events: Events) -> None:
        """None: it only measures."""

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``client_errors`` of each probe and window; where ``errors`` names some, the unexpected and missing ones."""
        counts = at_a_glance(events.rows) if events.glances else by_spark(events)
        expected = events.case.plan.expect.errors
        for probe in sorted({worker.probe for worker in events.case.workers}):
            for window in events.case.windows:
                met = {name: n for (who, where, name), n in counts.items() if (who, where) == (probe, window.name)}
                yield measured("client_errors", probe, window.name, float(sum(met.values())))
                if probe in expected:
                    strange = sum(n for name, n in met.items() if name not in expected[probe].known)
                    yield measured("unexpected_errors", probe, window.name, float(strange))
                    missing = len(set(expected[probe].must) - set(met))
                    yield measured("missing_errors", probe, window.name, float(missing))


def at_a_glance(rows: Rows) -> Counts:
    """The counts of a run that is glanced at."""
    counts = Counts()
    for table, time in _TABLES.items():
        probes, errors, at = rows.columns(table, "probe", "error", time)
        for window in rows.case.windows:
            inside = (errors != EMPTY) & (at >= window.began) & (at < window.ended)
            pairs, many = np.unique(np.stack([probes[inside], errors[inside]]), axis=1, return_counts=True)
            for probe, error, count in zip(*pairs.tolist(), many.tolist(), strict=True):
                for name in (rows.word("error", error) or "").split(","):
                    counts[rows.word("probe", probe) or "", window.name, name] += count
    return counts


def by_spark(events: Events) -> Counts:
    """The counts of a run of any size."""
    segments = Segments(events.case.windows)
    names = F.explode(F.split("error", ",")).alias("error")
    parts = [
        events.table(table).filter(F.col("error").isNotNull()).select("probe", F.col(time).alias("at"), names)
        for table, time in _TABLES.items()
    ]
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.unionByName(part)
    counts = Counts()
    for row in events.gathered(rows.groupBy("probe", "error", *segments.of(F.col("at"))).count()).collect():
        for window in segments.windows(row):
            counts[row["probe"], window, row["error"]] += int(row["count"])
    return counts
