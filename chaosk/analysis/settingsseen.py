"""What brokers reported of topics' settings while a run lasted, and what those let them delete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chaosk.analysis.case import MIN_ISR, Case, Span
from chaosk.core.units import parse_size
from chaosk.rundir.verdict import Fault
from chaosk.spec.entity import spelled

SLACK = 5_000_000_000
"""Nanoseconds that a setting may have been in force before, or after, it was reported: they are asked every second."""
UNCLEAN_ELECTION = "unclean.leader.election.enable"
_OVERHEAD = 200
"""Bytes that a record takes in the log besides its value, at most."""
_SMALLEST = 100
"""Bytes of a value where the scenario says nothing."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """For how long, and how much, a topic was kept in a stretch of time."""

    topic: str
    began: int
    """Since when it was in force, monotonic nanoseconds, with ``SLACK``."""
    ended: int
    """Until when, with ``SLACK``."""
    age: int | None
    """Nanoseconds from which on a record might be deleted (``retention.ms``); None: at no age."""
    records: int | None
    """How many of the scenario's records it takes at least to reach ``retention.bytes``; None: no size does."""


SCHEMA = "topic string, began long, ended long, age long, records long"
"""Columns of a frame of keepings."""


def keepings(case: Case) -> list[Keeping]:
    """What was kept of each topic, in the order of time; nothing of topics whose settings nobody reported."""
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
    """The topics whose settings any broker reported."""
    return frozenset(row.topic for row in case.settings)


def compacted(case: Case, topic: str) -> bool:
    """Whether a topic's log was ever compacted: as brokers reported it; where none did, as the scenario has it."""
    values = [row.value for row in case.settings if row.topic == topic and row.name == "cleanup.policy"]
    return any("compact" in value for value in values) or (not values and case.compacted(topic))


def in_force(case: Case, topic: str, name: str, span: Span) -> frozenset[str]:
    """The values, in lower case, that a topic's setting may have had at any time of a span.

    As brokers reported them: each from when it was reported, give or take ``SLACK``, until another one was. Where none
    did, as the scenario has it: the topic's own value, and what entries set from their begin to their end. Empty where
    neither says anything.
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


def unclean(case: Case, topic: str, span: Span | None = None) -> bool:
    """Whether an unclean election may have been allowed for a topic in a span (default: ever).

    By the topic's setting, or by an entry that asks for one.
    """
    span = span or _ever(case)
    return "true" in in_force(case, topic, UNCLEAN_ELECTION, span) or any(
        step.get("election") == "unclean" and step.get("topic") == topic for step in _elections_in(case, span)
    )


def min_isr(case: Case, topic: str, span: Span | None = None) -> int:
    """The least that ``min.insync.replicas`` of a topic may have been in a span (default: ever).

    1, which binds nobody, where nobody says what it was to begin with.
    """
    said = in_force(case, topic, MIN_ISR, span or _ever(case))
    reported = any(row.topic == topic and row.name == MIN_ISR for row in case.settings)
    known = reported or (topic in case.topics and MIN_ISR in case.topics[topic].config)
    return min((int(one) if one.isdigit() else 1 for one in said), default=1) if known else 1


def _ever(case: Case) -> Span:
    return Span("ever", 0, case.record.ended)


def _is_in_place(fault: Fault, span: Span) -> bool:
    """Whether what an entry did may have been in force in a span: never before it was begun."""
    return fault.invoked <= span.ended and (fault.healed is None or span.began <= fault.healed + SLACK)


def _elections_in(case: Case, span: Span) -> Iterator[Mapping[str, Any]]:
    """The elections that entries asked for in a span: of a moment each."""
    steps = {entry.name: entry.step for entry in case.plan.timeline if entry.kind == "elect_leader"}
    for fault in case.acted:
        over = (fault.applied or fault.invoked) + SLACK
        if fault.name in steps and fault.invoked <= span.ended and span.began <= over:
            yield steps[fault.name]


def _set_in(case: Case, topic: str, name: str, span: Span) -> list[object]:
    """The values that entries had set, or were to, in a span."""
    steps = {entry.name: entry.step for entry in case.plan.timeline if entry.kind == "set_topic_config"}
    mine = (steps[fault.name] for fault in case.acted if fault.name in steps and _is_in_place(fault, span))
    return [step["config"][name] for step in mine if step.get("topic") == topic and name in (step.get("config") or {})]


def _changes(case: Case, topic: str) -> list[tuple[int, dict[str, str]]]:
    """Each time that any setting was reported to have changed, and all that were in force from then on."""
    by_time: dict[int, dict[str, str]] = defaultdict(dict)
    for row in case.settings:
        if row.topic == topic:
            by_time[row.at][row.name] = row.value
    found: list[tuple[int, dict[str, str]]] = []
    for at in sorted(by_time):
        found.append((at, {**(found[-1][1] if found else {}), **by_time[at]}))
    return found


def _largest(case: Case, topic: str) -> int:
    """Bytes that one of the scenario's records takes in a topic's log, at most."""
    sizes = [_SMALLEST]
    for probe in case.plan.probes.values():
        for kind, name in (("produce", "topic"), ("transform", "to")):
            writing = probe.get(kind) or {}
            if writing.get(name) == topic:
                sizes.append(_bytes(writing.get("size", _SMALLEST)))
    return max(sizes) + _OVERHEAD


def _bytes(size: object) -> int:
    return size if isinstance(size, int) else parse_size(str(size))
