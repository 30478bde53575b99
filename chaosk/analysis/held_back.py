"""Guard about last stable offsets below the high watermark when the audit read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from chaosk.analysis.case import Case, PlaceKey
from chaosk.rundir.verdict import Finding, Guard

_EXPLAINED_BY = "stuck_lso"


def held_back(case: Case, findings: Sequence[Finding]) -> Iterator[Guard]:
    """Yield a guard for each partition whose last stable offset was below the high watermark when the audit read.

    A transaction was open there, so what readers at read_committed will get from that offset on is not known. A
    partition without a complete audit has a guard of its own, and one that ``stuck_lso`` reports has that finding.
    Leaders report the high watermark first, so a partition that is written to without transactions is not held back.
    """
    ends: dict[PlaceKey, dict[str, int]] = defaultdict(dict)
    for row in case.ranges:
        if row["complete"]:
            ends[row["topic"], row["partition"]][row["isolation"]] = row["end"]
    for (topic, partition), told in sorted(ends.items()):
        stable, high = told.get("read_committed"), told.get("read_uncommitted")
        if stable is not None and high is not None and stable < high and not _reported(findings, topic, partition):
            what = f"readers at read_committed get nothing of {topic}-{partition} from offset {stable} on, and the log "
            what += f"ends at {high}: a transaction was open there when the audit read"
            yield Guard(guard="last_stable_behind", what=f"{what}; let the run settle longer, or end that transaction")


def _reported(findings: Sequence[Finding], topic: str, partition: int) -> bool:
    """Return True if a finding is about the stuck last stable offset; not all of its rows may be at hand."""
    stuck = [finding for finding in findings if finding.check == _EXPLAINED_BY]
    rows = (row for finding in stuck for row in finding.evidence)
    at_hand = any((row["topic"], row["partition"]) == (topic, partition) for row in rows)
    return at_hand or any(finding.count > len(finding.evidence) for finding in stuck)
