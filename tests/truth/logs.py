"""Kafka's log in the model: partitions with offsets, control records, leader epochs and what may be seen when.

All times of the model are seconds from the begin of the timeline.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Value = tuple[str, int, int]
"""Producer, incarnation, sequence number."""
Place = tuple[str, int]
"""Topic and partition."""

OUTAGE = (1.1, 2.4)
"""While a partition that the kill hits has no leader."""
ALONE = -1.0
"""From when on the leader of a partition of the topic ``dirty`` is alone in the ISR, if the kill hits it."""


@dataclass(slots=True)
class Entry:
    """One offset of a log: a record, or (without a value) a control record that ended a transaction."""

    offset: int
    at: float
    value: Value | None = None
    txn: str | None = None


@dataclass(slots=True)
class Log:
    """One partition: entries in order of their offsets."""

    topic: str
    partition: int
    hit: bool
    """Whether the kill takes its leader."""
    entries: list[Entry] = field(default_factory=list)
    start: int = 0
    """Log start at the end of the run."""

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def end(self) -> int:
        """Log end offset."""
        return len(self.entries)

    def reached(self, at: float) -> float:
        """When a record that is sent at ``at`` gets into the log: in the outage not before its end; order is kept."""
        began, ended = OUTAGE
        return ended + (at - began) / 10_000 if self.hit and began <= at < ended else at + 0.001

    def append(self, at: float, value: Value | None, txn: str | None = None) -> Entry:
        """Append a record or control record; they come in order of time."""
        self.entries.append(Entry(self.end, at, value, txn))
        return self.entries[-1]

    def epoch(self, at: float) -> int:
        """The leader epoch at a moment: the kill makes the next one, the preferred leader's return one more."""
        return 3 + (0 if not self.hit else (at >= OUTAGE[1]) + (at >= 6.5))

    def leader(self, at: float) -> int:
        """The leader at a moment; -1 for none."""
        if not self.hit or at < OUTAGE[0] or at >= 6.5:
            return 1
        return -1 if at < OUTAGE[1] else 2

    def isr(self, at: float) -> tuple[int, ...]:
        """The replicas in sync; in the topic ``dirty`` the leader that is killed was alone, and so is the next one."""
        if self.topic == "dirty" and ALONE <= at < 6.2:
            return (1,) if at < OUTAGE[1] else (2,)
        return (0, 2) if OUTAGE[0] <= at < 6.2 else (0, 1, 2)


@dataclass(slots=True)
class Fate:
    """How a transaction ended in truth, whatever its producer was told."""

    committed: bool
    decided: float
    """When its markers were in the logs."""


def shown(log: Log, fates: dict[str, Fate], isolation: str) -> list[tuple[float, Entry]]:
    """The records that a reader of an isolation level gets, in order, and from when on: not beyond an open one."""
    careful, since, found = isolation == "read_committed", -1e9, []
    for entry in log.entries:
        fate = fates[entry.txn] if entry.txn else None
        since = max(since, fate.decided if fate and careful else entry.at)
        if entry.value is not None and not (careful and fate and not fate.committed):
            found.append((since + 0.002, entry))
    return found


def last_stable(log: Log, fates: dict[str, Fate], at: float) -> int:
    """The last stable offset at a moment: that of the first record of an open transaction, else the end."""
    known = [entry for entry in log.entries if entry.at <= at]
    return next((e.offset for e in known if e.txn and e.value and fates[e.txn].decided > at), len(known))
