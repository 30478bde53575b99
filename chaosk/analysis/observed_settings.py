"""Topic settings that brokers reported during a run, and the deletions that they permit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chaosk.analysis.case import MIN_ISR, Case, TimeSpan
from chaosk.core.units import parse_size
from chaosk.rundir.verdict import Fault
from chaosk.spec.entity import spelled

SLACK = 5_000_000_000
"""Nanoseconds that a setting may have been in force before, or after, its report: settings are queried every second."""
UNCLEAN_ELECTION = "unclean.leader.election.enable"
_OVERHEAD = 200
"""Upper bound of the bytes of a record in the log besides its value."""
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


SCHEMA = "topic string, began long, ended long, age long, records long"
"""Columns of a frame of keepings."""


def keepings(case: Case) -> list[Keeping]:
    """Return the retention of each topic, by time; none for topics without reported settings."""
    found: list[Keeping] = []
    for topic in sorted(case.topics):
        changes = _changes(case, topic)
        last = max((span.ended for span in case.phases), default=case.record.ended)
        for (at, values), ended in zip(changes, [*(at for at, _ in changes[1:]), last], strict=False):
            deletes = "delete" in values.get("cleanup.policy", "")
            age, size = (int(values.get(name, -1)) if deletes else -1 for name in ("retention.ms", "retention.bytes"))
            found.append(
                Keeping(
                    topic=topic,
                    began=at - SLACK,
                    ended=ended + SLACK,
                    age=age * 1_000_000 if age >= 0 else None,
                    records=size // _largest(case, topic) if size >= 0 else None,
                )
            )
    return found


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
