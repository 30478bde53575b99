"""Evidence in ranges: rows with neighbouring offsets merged, in memory that does not grow with the rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chaosk.core.figures import counted, number
from chaosk.report.axis import Axis
from chaosk.report.words import since

MOST_RANGES = 24
"""Ranges of one partition; if there are more, the nearest ones are merged."""
MOST_PLACES = 200
"""Partitions whose ranges are kept; rows of others are only counted."""
GAP = 2
"""Offsets that may be missing within a range, because each transaction marker takes one."""

_OFFSETS = {"inconsistent_offset": ("offset", "offset"), "truncation_after_ack": ("log_end", "offset")}
"""Checks about offsets: the columns with the first and last offset of a row; other checks concern records."""
_RECORDS = {
    "lost": "sent", "lost_write": "sent", "unseen": "sent", "duplicate_in_log": "sent", "send_order": "sent",
    "unknown_value": "", "stale_append": "sent", "aborted_read": "", "precommitted_read": "", "commit_skip": "",
    "swallowed": "", "late_write": "", "zombie_write": "sent", "redelivery": "delivered", "uncommitted": "",
    "torn_transaction": "",
}  # fmt: skip
"""Checks about records: the meaning of a row's ``began``; empty if it has no useful one."""


@dataclass(slots=True)
class RecordRange:
    """Adjacent records or offsets of one partition; ``low`` is None if no offset is known."""

    reader: str
    """The group or probe of the finding; empty if it concerns the log."""
    topic: str
    partition: int
    low: int | None
    high: int | None
    rows: int = 0
    began: int | None = None
    """The earliest and the latest ``began`` of the rows, monotonic nanoseconds."""
    ended: int | None = None

    def add(self, low: int | None, high: int | None, at: int | None, until: int | None, rows: int = 1) -> None:
        """Extend the range by a row, or by another range."""
        self.rows += rows
        if low is not None and high is not None:
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)
        if at is not None and until is not None:
            self.began = at if self.began is None else min(self.began, at)
            self.ended = until if self.ended is None else max(self.ended, until)


@dataclass(slots=True)
class Ranges:
    """The ranges of one finding, built row by row."""

    check: str
    places: dict[tuple[str, str, int], list[RecordRange]] = field(default_factory=dict)
    rest: int = 0
    """Rows of partitions beyond ``MOST_PLACES``."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row of evidence; a row without a partition is left out."""
        topic, partition = row.get("topic"), row.get("partition")
        if not told_in_ranges(self.check) or not isinstance(topic, str) or not isinstance(partition, int):
            return
        reader = row.get("group") or row.get("reader") or ""
        key = (str(reader), topic, partition)
        if key not in self.places and len(self.places) >= MOST_PLACES:
            self.rest += 1
            return
        low, high = (_whole(row.get(name)) for name in _OFFSETS.get(self.check, ("offset", "offset")))
        if low is not None and high is not None and low > high:
            low, high = high, low
        at = _whole(row.get("began"))
        _into(self.places.setdefault(key, []), key, low, high, at)

    def all(self) -> tuple[RecordRange, ...]:
        """Return every range, by reader, partition and offset."""
        return tuple(one for _, ranges in sorted(self.places.items()) for one in ranges)


def told_in_ranges(check: str) -> bool:
    """Return True if a check's rows are records or offsets of partitions."""
    return check in _OFFSETS or check in _RECORDS


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _into(
    ranges: list[RecordRange], key: tuple[str, str, int], low: int | None, high: int | None, at: int | None
) -> None:
    """Merge a row into its partition's ranges, which are ordered by offset, unknown offsets first."""
    place = bisect_left(ranges, -1 if low is None else low, key=lambda one: -1 if one.high is None else one.high)
    for near in (place, place - 1):
        if 0 <= near < len(ranges) and _touches(ranges[near], low, high):
            ranges[near].add(low, high, at, at)
            return
    ranges.insert(place, RecordRange(*key, None, None))
    ranges[place].add(low, high, at, at)
    if len(ranges) > MOST_RANGES:
        _join_nearest(ranges)


def _touches(one: RecordRange, low: int | None, high: int | None) -> bool:
    if one.low is None or one.high is None or low is None or high is None:
        return one.low is None and low is None
    return low <= one.high + 1 + GAP and high >= one.low - 1 - GAP


def _join_nearest(ranges: list[RecordRange]) -> None:
    known = [n for n in range(1, len(ranges)) if ranges[n - 1].high is not None]
    nearest = min(known, key=lambda n: (ranges[n].low or 0) - (ranges[n - 1].high or 0))
    gone = ranges.pop(nearest)
    ranges[nearest - 1].add(gone.low, gone.high, gone.began, gone.ended, gone.rows)


def told(one: RecordRange, check: str, axis: Axis) -> str:
    """Describe a range, like ``orders-0: offsets 3118 to 7412, 4,295 records, sent +10.50 s to +31.90 s``."""
    parts = [_offsets(one)]
    if check in _RECORDS:
        parts.append(counted(one.rows, "record"))
    elif one.low is not None and one.high is not None and check == "inconsistent_offset":
        parts += [f"{number(one.rows)} of them"] if one.rows != one.high - one.low + 1 else []
    if one.began is not None and one.ended is not None and _RECORDS.get(check):
        first, last = since(axis.seconds(one.began)), since(axis.seconds(one.ended))
        parts.append(f"{_RECORDS[check]} {first}" if first == last else f"{_RECORDS[check]} {first} to {last}")
    whose = f", {one.reader}" if one.reader else ""
    return f"{one.topic}-{one.partition}{whose}: {', '.join(parts)}"


def _offsets(one: RecordRange) -> str:
    if one.low is None:
        return "offsets unknown"
    return f"offset {one.low}" if one.low == one.high else f"offsets {one.low} to {one.high}"
