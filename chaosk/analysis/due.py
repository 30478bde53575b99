"""Work that was due to a probe in a stretch of time: a probe without any is not missed. Pure functions, without Spark.

A producer at a low rate may have no record due, a standby owns no partition, and a partition may be idle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from chaosk.analysis.case import Case, PlaceKey, TimeSpan
from chaosk.analysis.completeness import gone
from chaosk.analysis.event_files import read
from chaosk.core.units import parse_duration, parse_rate

_SECOND = 1_000_000_000
"""Nanoseconds within which a record need not have been delivered."""


def scheduled(case: Case, probe: str, span: TimeSpan) -> bool:
    """Return False if the probe has a schedule, and its next attempt may be due after the stretch of time."""
    return span.ended - span.began >= _interval(case, probe) * _SECOND


def readable(case: Case, probe: str, span: TimeSpan) -> bool:
    """Return True if a record was acknowledged in a partition while the probe owned it, a second before the end."""
    return any(_written(case, term.place, term.began, term.ended) for term in _terms(case, probe, span))


def _interval(case: Case, probe: str) -> float:
    """Return the time in seconds between two attempts of the probe's schedule, at its higher rate; 0 if it has none."""
    kinds = case.plan.probes.get(probe, {})
    if producing := kinds.get("produce"):
        ramp = producing.get("ramp")
        return min(_period(rate) for rate in (producing.get("rate"), *([ramp.get("to")] if ramp else [])))
    if checking := kinds.get("health_check"):
        return _period(checking.get("rate")) / max(1, len(case.hosts))
    if calling := kinds.get("call"):
        return _seconds(calling.get("every"))
    return 0.0


def _period(rate: object) -> float:
    """Return the seconds between two attempts at a rate like ``2/s``; 0 for full speed, and without a rate."""
    try:
        per_second = parse_rate(rate)
    except ValueError:
        return 0.0
    return 1 / per_second if per_second else math.inf


def _seconds(duration: object) -> float:
    try:
        return parse_duration(duration)
    except ValueError:
        return 0.0


@dataclass(frozen=True, slots=True)
class _Term:
    """A stretch of time in which a probe owned a partition."""

    place: PlaceKey
    began: int
    ended: int


def _terms(case: Case, probe: str, span: TimeSpan) -> Iterator[_Term]:
    """Yield the ownerships of the probe's processes, as far as they are in the stretch of time."""
    over = {worker.incarnation: gone(case, worker) for worker in case.workers if worker.probe == probe}
    rows: dict[tuple[int, int, PlaceKey], list[dict[str, Any]]] = defaultdict(list)
    for row in _read(case, "assignments", pc.field("probe") == probe, None):
        rows[row["incarnation"], row["assignment"], (row["topic"], row["partition"])].append(row)
    for (incarnation, _, place), events in rows.items():
        given = min((row["at"] for row in events if row["kind"] == "assign"), default=None)
        taken = min((row["at"] for row in events if row["kind"] != "assign"), default=over.get(incarnation, span.ended))
        if given is not None and given < span.ended and span.began < taken:
            yield _Term(place, max(given, span.began), min(taken, span.ended))


def _written(case: Case, owned: PlaceKey, began: int, ended: int) -> bool:
    """Return True if a record was acknowledged in a partition from ``began`` until a second before ``ended``."""
    topic, partition = owned
    place = (pc.field("topic") == topic) & (pc.field("partition") == partition)
    time = (pc.field("completed") >= began) & (pc.field("completed") < ended - _SECOND)
    wanted = place & time & (pc.field("outcome") == "ok")
    return bool(_read(case, "sends", wanted, ["completed"]))


def _read(case: Case, table: str, wanted: pc.Expression, columns: list[str] | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read(case.events, table, columns, wanted).to_pylist()
    return rows
