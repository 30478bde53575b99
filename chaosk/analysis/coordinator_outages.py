"""Times in which faults kept so many brokers away that no transaction could end. Pure functions, without Spark.

A coordinator writes each end of a transaction to ``__transaction_state``. That topic takes no write while fewer brokers
are there than its ``min.insync.replicas``, although partitions with a lower minimum go on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from chaosk.analysis.case import Case
from chaosk.analysis.event_files import read
from chaosk.analysis.intervals import Interval, union

NEEDED = 2
"""Default of ``transaction.state.log.min.isr``."""


def coordinator_outages(case: Case) -> list[Interval]:
    """Return the times in which fewer brokers answered the watcher than must be in sync, and a fault was in place.

    A broker is away from its last answer before an attempt without one until its next answer. A cluster of one broker
    needs that one.
    """
    if not case.rows["brokers"]:
        return []
    away = [span for rows in _by_broker(case).values() for span in _absences(rows, case.record.ended)]
    most = len(case.hosts) - min(NEEDED, len(case.hosts))
    faults = [(fault.invoked, fault.healed or case.record.ended) for fault in case.faults]
    return [span for span in _crowded(away, most) if any(a < span[1] and span[0] < b for a, b in faults)]


def _by_broker(case: Case) -> dict[int, list[dict[str, Any]]]:
    rows = read(case.events, "brokers", ["asked", "completed", "error"]).to_pylist()
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["completed"]):
        found[row["asked"]].append(row)
    return found


def _absences(rows: Iterable[dict[str, Any]], ended: int) -> Iterator[Interval]:
    """Yield the times in which a broker did not answer: from its last answer before an error to its next one."""
    answers = [row["completed"] for row in rows if row["error"] is None]
    errors = sorted(row["completed"] for row in rows if row["error"] is not None)
    for began, over in pairwise([-1, *answers, max(ended, *answers, *errors, 0)]):
        first = bisect_left(errors, began)
        if first < len(errors) and errors[first] <= over:
            yield (began if began >= 0 else errors[first]), over


def _crowded(spans: Iterable[Interval], most: int) -> list[Interval]:
    """Return the times in which more than ``most`` of the spans overlap."""
    spans = list(spans)
    turns = sorted([(began, 1) for began, _ in spans] + [(ended, -1) for _, ended in spans])
    found, count = [], 0
    for (at, step), (then, _) in pairwise(turns):
        count += step
        if count > most:
            found.append((at, then))
    return union(found)
