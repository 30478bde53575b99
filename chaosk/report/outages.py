"""Outages found by checks: times in which a producer or a reader had work on a partition and completed none of it.

The checks ``produce_unavailability`` (D1) and ``consume_unavailability`` (D2) define them; the report only explains
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chaosk.report.changes import Place
from chaosk.report.evidence import rows
from chaosk.report.source import Source

MOST_ROWS = 20_000
"""Rows read of a check's evidence."""
CHECKS = {"produce_unavailability": "producer", "consume_unavailability": "reader"}
"""By check: the column with the subject of an outage."""


@dataclass(frozen=True, slots=True)
class PartitionOutage:
    """A period without any completion, monotonic nanoseconds."""

    who: str
    """A producer, a group, or a consumer without one."""
    kind: str
    """``produce`` or ``consume``."""
    place: Place
    began: int
    ended: int
    censored: bool = False
    """True if it lasted until the end of the run or longer."""

    @property
    def seconds(self) -> float:
        """Its duration, a lower bound if censored."""
        return (self.ended - self.began) / 1e9


def outages(source: Source) -> tuple[PartitionOutage, ...]:
    """Return every outage that the checks found, by time; malformed rows are left out."""
    found = [outage for check, who in CHECKS.items() for outage in _outages(check, who, source)]
    return tuple(sorted(found, key=lambda outage: (outage.began, outage.who, outage.place)))


def _outages(check: str, who: str, source: Source) -> Iterator[PartitionOutage]:
    for row in islice(rows(source, check), MOST_ROWS):
        try:
            yield PartitionOutage(
                who=str(row[who]),
                kind=check.partition("_")[0],
                place=(str(row["topic"]), int(row["partition"])),
                began=int(row["began"]),
                ended=int(row["ended"]),
                censored=bool(row.get("censored")),
            )
        except (KeyError, TypeError, ValueError):
            source.note(f"evidence of {check}: a row is not understood and left out of the explanations")
