"""Records with a violation, by send time, to be drawn on the rates of their senders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chaosk.report.axis import Axis, Longs

KINDS = {"lost": "lost", "unseen": "never delivered", "duplicated": "duplicated", "reordered": "out of order"}
"""Labels by kind; the first one is drawn lowest."""
_CHECKS = {
    "lost": ("lost", "producer", "producer_incarnation"),
    "lost_write": ("lost", "producer", "producer_incarnation"),
    "unseen": ("unseen", "producer", "producer_incarnation"),
    "commit_skip": ("unseen", "producer", "producer_incarnation"),
    "swallowed": ("unseen", "producer", "producer_incarnation"),
    "duplicate_in_log": ("duplicated", "producer", "producer_incarnation"),
    "send_order": ("reordered", "producer", "producer_incarnation"),
    "poll_order": ("reordered", "probe", "incarnation"),
}
"""By check: the kind, and the columns that identify the probe on whose rates it is drawn."""
_BATCH = 50_000


@dataclass(slots=True)
class Marks:
    """Counts of records by probe, kind and bucket, built row by row.

    Two checks may find the same record, and one check finds it for each group. Of these counts the largest is used, not
    the sum.
    """

    axis: Axis
    sent: Mapping[tuple[str, int], Longs] = field(default_factory=dict)
    """Due times by sequence number, for each producer and incarnation, if known."""
    _counts: dict[tuple[str, str], dict[str, Longs]] = field(default_factory=dict)
    _waiting: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    _size: int = 0

    def add(self, check: str, row: Mapping[str, Any]) -> None:
        """Count a row of a check's evidence; a row without time or probe is left out."""
        if check not in _CHECKS:
            return
        kind, column, number = _CHECKS[check]
        probe = row.get(column)
        at = self._sent(probe, row.get(number), row.get("seq")) if column == "producer" else None
        at = at if at is not None else row.get("began")
        if not isinstance(probe, str) or not isinstance(at, int):
            return
        self._waiting.setdefault((probe, kind, f"{check} {row.get('group') or ''}"), []).append(at)
        self._size += 1
        if self._size >= _BATCH:
            self._count()

    def _sent(self, producer: object, incarnation: object, seq: object) -> int | None:
        if not isinstance(producer, str) or not isinstance(incarnation, int) or not isinstance(seq, int):
            return None
        due = self.sent.get((producer, incarnation))
        return int(due[seq]) if due is not None and 0 <= seq < len(due) and due[seq] >= 0 else None

    def _count(self) -> None:
        for (probe, kind, finder), times in self._waiting.items():
            found = self._counts.setdefault((probe, kind), {})
            none = np.zeros(self.axis.buckets, dtype=np.int64)
            found[finder] = found.get(finder, none) + self.axis.count(np.array(times, dtype=np.int64))
        self._waiting.clear()
        self._size = 0

    def of(self, probe: str) -> dict[str, Longs]:
        """Return the records in each bucket by kind, in drawing order."""
        self._count()
        found = {kind: self._counts.get((probe, kind)) for kind in KINDS}
        return {kind: np.maximum.reduce(list(by.values())) for kind, by in found.items() if by}
