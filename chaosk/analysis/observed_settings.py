"""Topic settings that brokers reported during a run, and the deletions that they permit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chaosk.analysis.case import MIN_ISR, Case, TimeSpan
from chaosk.analysis.host_clocks import clock_stretches
from chaosk.core.units import parse_size
from chaosk.rundir.verdict import Fault
from chaosk.spec.entity import spelled

SLACK = 5_000_000_000
"""Nanoseconds that a setting may have been in force before, or after, its report: settings are queried every second."""
UNCLEAN_ELECTION = "unclean.leader.election.enable"
TIMESTAMPS = "message.timestamp.type"
SEGMENT_AGE, SEGMENT_SIZE = "segment.ms", "segment.bytes"
_JITTER, _COMPACTION_LAG = "segment.jitter.ms", "max.compaction.lag.ms"
_ROLLING = frozenset(
    {_JITTER, _COMPACTION_LAG, "internal.segment.bytes", "segment.index.bytes", "index.interval.bytes"}
)
"""Further settings that may begin a new segment: with one of these planned and not reported, any time is possible."""
_OVERHEAD = 200
"""Upper bound of the bytes of a record in the log besides its value."""
_NEVER = 2**62
_SMALLEST = 100
"""Bytes of a value if the scenario sets no size."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """Retention of a topic in a stretch of time, by age and size."""

    topic: str
    began: int
    """Start of its validity, monotonic nanoseconds, with ``SLACK``."""
    ended: int
    """End of its validity, with ``SLACK``."""
    age: int | None
    """Smallest age in nanoseconds of a record that may be deleted (``retention.ms``); None: no limit."""
    records: int | None
    """Smallest number of the scenario's records that reach ``retention.bytes``; None: no limit."""
    roll_at: int | None
    """Earliest time at which age can have closed a segment (``segment.ms``); None: unknown."""
    roll_records: int | None
    """Smallest number of the scenario's records that fill a segment (``segment.bytes``); None: unknown."""


SCHEMA = "topic string, began long, ended long, age long, records long, roll_at long, roll_records long"
"""Columns of a frame of keepings."""


def keepings(case: Case) -> list[Keeping]:
    """Return the retention of each topic, by time; none for topics without reported settings."""
    found: list[Keeping] = []
    for topic in sorted(case.topics):
        changes = _changes(case, topic)
        for number, (at, values, ended) in enumerate(_stretches(case, changes)):
            deletes = "delete" in values.get("cleanup.policy", "")
            age, size = (int(values.get(name, -1)) if deletes else -1 for name in ("retention.ms", "retention.bytes"))
            roll_at, roll_records = _rolls(case, topic, [values for _, values in changes[: number + 1]])
            found.append(
                Keeping(
                    topic=topic,
                    began=at - SLACK,
                    ended=ended + SLACK,
                    age=min(age * 1_000_000, _NEVER) if age >= 0 else None,
                    records=size // _largest(case, topic) if size >= 0 else None,
                    roll_at=roll_at,
                    roll_records=roll_records,
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Compaction:
    """Compaction of a topic whose log was compacted at any time."""

    topic: str
    until: int
    """Latest time at which it was in force, with ``SLACK``."""
    roll_at: int | None
    """As of a keeping."""
    roll_records: int | None
    """As of a keeping."""


COMPACTIONS = "topic string, until long, roll_at long, roll_records long"
"""Columns of a frame of compactions."""


def compactions(case: Case) -> list[Compaction]:
    """Return the compaction of each topic that had any; of the scenario's settings if no broker reported them."""
    found: list[Compaction] = []
    for topic in sorted(case.topics):
        changes = _changes(case, topic)
        over = [
            end for _, values, end in _stretches(case, changes) if "compact" in values.get("cleanup.policy", "compact")
        ]
        if compacted(case, topic):
            rolls = _rolls(case, topic, [values for _, values in changes])
            found.append(Compaction(topic, max(over, default=last_moment(case)) + SLACK, *rolls))
    return found


def last_moment(case: Case) -> int:
    """Return the end of the last phase."""
    return max((span.ended for span in case.phases), default=case.record.ended)


def _stretches(case: Case, changes: list[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, dict[str, str], int]]:
    """Yield each change with the end of its validity."""
    ends = [*(at for at, _ in changes[1:]), last_moment(case)]
    for (at, values), ended in zip(changes, ends, strict=False):
        yield at, values, ended


def _rolls(case: Case, topic: str, values: list[dict[str, str]]) -> tuple[int | None, int | None]:
    """Return the earliest roll of a segment of a topic by age (a time) and by size (a number of records).

    Brokers delete and compact closed segments; the segment that is written to is deleted only if all of its records
    have expired, and is never compacted. ``values``: the settings in force up to then. None, None if both settings are
    not known, or if records of others or skewed clocks may have closed a segment earlier.
    """
    known = [each for each in values if SEGMENT_AGE in each and SEGMENT_SIZE in each]
    other = _named_settings(case, topic) & _ROLLING - {name for each in values for name in each}
    skewed = any(fault.step == "skew_clock" for fault in case.acted)
    skewed = skewed or (stamped_by_brokers(case, topic) and bool(clock_stretches(case)))
    if not known or other or case.foreign or skewed:
        return None, None
    first = min((worker.started for worker in case.workers), default=case.record.began)
    age = min(_roll_age(each) for each in known)
    size = min(int(each[SEGMENT_SIZE]) for each in known)
    return min(first + age * 1_000_000 - SLACK, _NEVER), size // _largest(case, topic)


def _roll_age(values: Mapping[str, str]) -> int:
    """Return the smallest age in milliseconds at which a segment is closed, less its largest jitter."""
    age = int(values[SEGMENT_AGE])
    lag = int(values.get(_COMPACTION_LAG, _NEVER)) if "compact" in values.get("cleanup.policy", "") else _NEVER
    return min(age - int(values.get(_JITTER, 0)), lag)


def _named_settings(case: Case, topic: str) -> frozenset[str]:
    """Return the settings that the scenario names for a topic, also in entries."""
    steps = (entry.step for entry in case.plan.timeline if entry.kind == "set_topic_config")
    changed = (name for step in steps if step.get("topic") == topic for name in step.get("config") or {})
    return frozenset((*case.topics[topic].config, *changed))


def reported(case: Case) -> frozenset[str]:
    """Return the topics with settings reported by any broker."""
    return frozenset(row.topic for row in case.settings)


def compacted(case: Case, topic: str) -> bool:
    """Return True if a topic's log was ever compacted, according to brokers or, without reports, to the scenario."""
    values = [row.value for row in case.settings if row.topic == topic and row.name == "cleanup.policy"]
    return any("compact" in value for value in values) or (not values and case.compacted(topic))


def in_force(case: Case, topic: str, name: str, span: TimeSpan) -> frozenset[str]:
    """Return the values, in lower case, that a topic's setting may have had at any time of a span.

    Reported values count from their report, with ``SLACK``, until the next one. Without reports, the scenario's values
    count: the topic's own, and those of entries from their start to their end. Empty if neither has a value.
    """
    told = [row for row in case.settings if row.topic == topic and row.name == name]
    if not told:
        own = case.topics[topic].config.get(name) if topic in case.topics else None
        return frozenset(spelled(one).lower() for one in (own, *_set_in(case, topic, name, span)) if one is not None)
    starts = [0, *(row.at - SLACK for row in told[1:])]
    ends = [*(row.at + SLACK for row in told[1:]), case.record.ended + SLACK]
    stretches = zip(told, starts, ends, strict=True)
    return frozenset(
        row.value.lower() for row, began, ended in stretches if began <= span.ended and span.began <= ended
    )


def unclean(case: Case, topic: str, span: TimeSpan | None = None) -> bool:
    """Return True if an unclean election may have been allowed for a topic in a span (default: ever).

    It is allowed by the topic's setting, or by an entry that asks for one.
    """
    span = span or _ever(case)
    return "true" in in_force(case, topic, UNCLEAN_ELECTION, span) or any(
        step.get("election") == "unclean" and step.get("topic") == topic for step in _elections_in(case, span)
    )


def stamped_by_brokers(case: Case, topic: str) -> bool:
    """Return True if brokers may ever have given records of a topic the time of their own clocks."""
    return "logappendtime" in in_force(case, topic, TIMESTAMPS, _ever(case))


def min_isr(case: Case, topic: str, span: TimeSpan | None = None) -> int:
    """Return the lowest value that ``min.insync.replicas`` of a topic may have had in a span (default: ever).

    1, which restricts nothing, if its initial value is unknown.
    """
    said = in_force(case, topic, MIN_ISR, span or _ever(case))
    reported = any(row.topic == topic and row.name == MIN_ISR for row in case.settings)
    known = reported or (topic in case.topics and MIN_ISR in case.topics[topic].config)
    return min((int(one) if one.isdigit() else 1 for one in said), default=1) if known else 1


def _ever(case: Case) -> TimeSpan:
    return TimeSpan("ever", 0, case.record.ended)


def _is_in_place(fault: Fault, span: TimeSpan) -> bool:
    """Return True if an entry's change may have been in force in a span: never before its start."""
    return fault.invoked <= span.ended and (fault.healed is None or span.began <= fault.healed + SLACK)


def _elections_in(case: Case, span: TimeSpan) -> Iterator[Mapping[str, Any]]:
    """Yield the elections that entries asked for in a span; each is instantaneous."""
    steps = {entry.name: entry.step for entry in case.plan.timeline if entry.kind == "elect_leader"}
    for fault in case.acted:
        over = (fault.applied or fault.invoked) + SLACK
        if fault.name in steps and fault.invoked <= span.ended and span.began <= over:
            yield steps[fault.name]


def _set_in(case: Case, topic: str, name: str, span: TimeSpan) -> list[object]:
    """Return the values that entries set, or tried to set, in a span."""
    steps = {entry.name: entry.step for entry in case.plan.timeline if entry.kind == "set_topic_config"}
    mine = (steps[fault.name] for fault in case.acted if fault.name in steps and _is_in_place(fault, span))
    return [step["config"][name] for step in mine if step.get("topic") == topic and name in (step.get("config") or {})]


def _changes(case: Case, topic: str) -> list[tuple[int, dict[str, str]]]:
    """Return the time of each reported change, with all settings in force from then on."""
    by_time: dict[int, dict[str, str]] = defaultdict(dict)
    for row in case.settings:
        if row.topic == topic:
            by_time[row.at][row.name] = row.value
    found: list[tuple[int, dict[str, str]]] = []
    for at in sorted(by_time):
        found.append((at, {**(found[-1][1] if found else {}), **by_time[at]}))
    return found


def _largest(case: Case, topic: str) -> int:
    """Return an upper bound of the bytes of one of the scenario's records in a topic's log."""
    sizes = [_SMALLEST]
    for probe in case.plan.probes.values():
        for kind, name in (("produce", "topic"), ("transform", "to")):
            writing = probe.get(kind) or {}
            if writing.get(name) == topic:
                sizes.append(_bytes(writing.get("size", _SMALLEST)))
    return max(sizes) + _OVERHEAD


def _bytes(size: object) -> int:
    return size if isinstance(size, int) else parse_size(str(size))
