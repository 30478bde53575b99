"""What brokers reported of topics' settings while a run lasted, and what those let them delete."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from chaosk.analysis.case import Case
from chaosk.units import parse_size

SLACK = 5_000_000_000
"""Nanoseconds that a setting may have been in force before, or after, it was reported: they are asked every second."""
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
