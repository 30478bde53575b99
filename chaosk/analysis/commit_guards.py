"""Guards about committed offsets of groups: no answer of the cluster, or commits by another client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chaosk.analysis.case import Case, FinalCommit, PlaceKey, Worker
from chaosk.analysis.completeness import gone
from chaosk.analysis.event_files import read
from chaosk.rundir.verdict import Guard

Row = dict[str, Any]


def group_not_asked(case: Case) -> Iterator[Guard]:
    """Yield a guard if the cluster did not report a group's committed offset of a partition after the run.

    Only for runs whose writers record how much they wrote: in runs of older versions rows may be missing without a
    cause. A group whose application keeps its offsets in a topic of its own commits nothing at a coordinator.
    """
    if case.record.streams is None:
        return
    told = {(one.group, one.topic, one.partition) for one in case.committed}
    for group in sorted({*case.groups} - _keeping_their_own(case)):
        places = sorted({(row["topic"], row["partition"]) for row in case.ranges})
        if missing := [f"{topic}-{number}" for topic, number in places if (group, topic, number) not in told]:
            what = f"the cluster did not report after the run what {group} had committed for {', '.join(missing)}"
            yield Guard(guard="group_not_asked", what=f"{what}; whether commits were lost cannot be judged")


def _keeping_their_own(case: Case) -> set[str]:
    """Return the groups whose applications keep their offsets in a topic of their own."""
    probes = case.plan.probes
    return {
        worker.group
        for worker in case.workers
        if worker.group and (probes.get(worker.probe, {}).get("consume") or {}).get("offsets")
    }


def foreign_commit(case: Case) -> Iterator[Guard]:
    """Yield a guard if the cluster's committed offset of a group exceeds all that this run's processes asked for.

    Automatic commits and commits of killed processes may not be recorded. For groups with these, the offset must exceed
    that of a record which was sent after the end of all such processes.
    """
    for one in case.committed:
        if one.topic in case.former.topics or one.offset is None:
            continue
        silent = _silent(case, one.group)
        if not silent and one.asked is not None and one.offset > one.asked:
            yield _foreign(f"{_reported(one)}, and no process of the run asked for more than {one.asked:,}")
        elif silent and one.offset > (one.asked or 0):
            limit = _next_sent(case, (one.topic, one.partition), max(gone(case, worker) for worker in silent))
            if limit is not None and one.offset > limit:
                over = "was sent when the processes whose commits may not be recorded had ended"
                yield _foreign(f"{_reported(one)}, and record {limit:,} {over}")


def _reported(one: FinalCommit) -> str:
    return f"the cluster says that {one.group} committed {one.offset:,} in {one.topic}-{one.partition}"


def _foreign(seen: str) -> Guard:
    return Guard(guard="foreign_commit", what=f"{seen}: another client commits for that group")


def start_by_nobody(case: Case) -> Iterator[Guard]:
    """Yield a guard if a member found a committed offset that no process of this run can have committed.

    Only for partitions whose first record was sent in this run: in others, the group may have committed before the run.
    """
    told: set[tuple[str, PlaceKey]] = set()
    for row in _found(case):
        place = row["topic"], row["partition"]
        if (row["group"], place) in told or _first_offset(case, place) != 0:
            continue
        asked = _most_asked(case, row)
        if row["offset"] > asked and not _unrecorded(case, row):
            told.add((row["group"], place))
            yield _foreign(
                f"{row['probe']} found {row['offset']:,} committed for {row['group']} in {place[0]}-{place[1]}, whose "
                f"first record is of this run, and no process had asked for more than {asked:,}"
            )


def _found(case: Case) -> list[Row]:
    """Return the committed offsets that members found, by time, without those of recreated topics."""
    rows = (row for row in read(case.events, "fetched").to_pylist() if row["group"] is not None and row["offset"])
    kept = (row for row in rows if row["topic"] not in case.former.topics)
    return sorted(kept, key=lambda row: (row["completed"], row["group"], row["topic"], row["partition"]))


def _unrecorded(case: Case, found: Row) -> bool:
    """Return True if a process whose commits may not be recorded can have committed an offset that was found."""
    at = found["completed"]
    silent = [worker for worker in _silent(case, found["group"]) if worker.started < at]
    if not silent:
        return False
    ended = min(at, max(gone(case, worker) for worker in silent))
    limit = _next_sent(case, (found["topic"], found["partition"]), ended)
    return limit is None or found["offset"] <= limit


def _silent(case: Case, group: str) -> list[Worker]:
    """Return the members of a group whose commits may not be recorded: automatic ones, and killed processes."""
    mine = (worker for worker in case.workers if worker.group == group)
    return [one for one in mine if one.commit == "automatic" or (one.probe, one.incarnation) in case.unended]


def _most_asked(case: Case, found: Row) -> int:
    """Return the highest offset that members had asked to commit when an offset was found; 0 if there was none."""
    own = pc.field("group") == found["group"]
    own = own & (pc.field("topic") == found["topic"]) & (pc.field("partition") == found["partition"])
    most = 0
    for table, time in (("commits", "invoked"), ("txn_offsets", "at")):
        rows = read(case.events, table).filter(own & (pc.field(time) <= found["completed"]))
        most = max(most, pc.max(rows.column("offset")).as_py() or 0)
    return most


def _next_sent(case: Case, place: PlaceKey, after: int) -> int | None:
    """Return the lowest acknowledged offset of the records that were sent to a partition after a time."""
    lowest: int | None = pc.min(_sent(case, place, pc.field("invoked") > after).column("offset")).as_py()
    return lowest


def _first_offset(case: Case, place: PlaceKey) -> int | None:
    """Return the lowest offset that was acknowledged in a partition."""
    lowest: int | None = pc.min(_sent(case, place, pc.field("offset") == 0).column("offset")).as_py()
    return lowest


def _sent(case: Case, place: PlaceKey, holds: pc.Expression) -> pa.Table:
    """Return the acknowledged records of a partition for which a condition holds; not those with ``acks=0``."""
    here = (pc.field("topic") == place[0]) & (pc.field("partition") == place[1]) & (pc.field("outcome") == "ok")
    rows = read(case.events, "sends", wanted=here & holds & (pc.field("offset") >= 0))
    for probe, incarnation in case.deaf:
        rows = rows.filter(~((pc.field("probe") == probe) & (pc.field("incarnation") == incarnation)))
    return rows
