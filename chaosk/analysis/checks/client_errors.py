"""Errors that clients met, and comparison with those that the scenario expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.rundir.verdict import Measure

Counts = Counter[tuple[str, str, str]]
"""Number of errors by probe, window and error name."""
_TABLES = {"errors": "at", "sends": "completed", "polls": "completed", "commits": "completed", "calls": "completed"}
"""Tables with an error column, and their column with the time of the error."""


class ClientErrors(Check):
    """Errors of a probe's clients: those reported outside of any call, and those returned by calls.

    D12. Counted are the rows with an error name: of errors, and of sends, polls, commits and calls that failed or whose
    fate is unknown. A row belongs to the window in which the error arrived, and a poll with several errors counts once
    for each. A request without an answer when the probe ended has no time, and belongs to no window. If the scenario
    lists ``errors`` of a probe, an error is *unexpected* if the list neither requires nor permits it, and an error is
    *missing* if it is required and did not occur. Names are librdkafka's.
    """

    rule = "D12"
    title = "errors that clients met"
    counted = ("error", "errors")
    metrics = ("client_errors", "unexpected_errors", "missing_errors")
    tables = tuple(_TABLES)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``client_errors`` by probe and window; for probes with ``errors``, also unexpected and missing ones."""
        counts = counted(events.rows)
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


def counted(rows: EventRows) -> Counts:
    """Count errors by probe, window and name."""
    counts = Counts()
    for table, time in _TABLES.items():
        for part in rows.parts(table):
            probes, errors, at = part.columns(table, "probe", "error", time)
            for window in rows.case.windows:
                inside = (errors != EMPTY) & (at >= window.began) & (at < window.ended)
                pairs, many = np.unique(np.stack([probes[inside], errors[inside]]), axis=1, return_counts=True)
                for probe, error, count in zip(*pairs.tolist(), many.tolist(), strict=True):
                    for name in (part.word("error", error) or "").split(","):
                        counts[part.word("probe", probe) or "", window.name, name] += count
    return counts
