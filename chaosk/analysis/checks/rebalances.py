"""Number and duration of rebalances of consumer groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow.compute as pc

from chaosk.analysis.case import Case, PlaceKey, Process, TimeSpan
from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.checks._contract import Check, informing
from chaosk.analysis.completeness import incomplete, there
from chaosk.analysis.counts import measured
from chaosk.analysis.event_files import read
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.rundir.verdict import Measure

FENCED = "FENCED_INSTANCE_ID"
"""Error of a static member whose ``group.instance.id`` another process has taken."""
_SOON = 15_000_000_000
_MISSED = 60_000_000_000


class Rebalances(Check):
    """Time from the first partition revoked from a member until all revoked partitions have been assigned again.

    D7. A revoked partition is in transit until a member is assigned it, and overlapping transits are one rebalance of
    the group. If the new member's process began only afterwards, the revocation and the assignment are two rebalances.
    The revocations and assignments of one member alone do not suffice: in the cooperative protocol a member may only
    lose partitions.

    Not counted are: the first assignment of a group; changes before the baseline or when the consumers are asked to
    end; the restart of a static member (``group.instance.id``) that gets its partitions back before another member had
    them; and the replacement of a static member by another process with its id, which fences it. The group does not
    notice the last two.

    *Unnecessary* is a rebalance with the same members before and after: no process of the group started, ended or was
    killed at that time, no partition was lost, and as many were assigned as revoked. Its cause is unknown, so this is a
    figure and no finding. A partition has *moved* if it was assigned to another member than the last time.

    Columns: group, seconds, members (number of processes involved), taken and given (partitions revoked and assigned),
    lost (number of those revoked that were lost).
    """

    rule = "D7"
    title = "rebalances of consumer groups"
    counted = ("rebalance", "rebalances")
    metrics = ("rebalance_time", "rebalances", "unnecessary_rebalances", "moved_partitions")
    tables = ("assignments", "incarnations", "ends", "polls", "errors")
    as_recorded = True
    order = ("began", "group")

    def plain(self, events: Events) -> FewRows:
        """Return rebalances as information; an objective decides whether they are too many or too long."""
        run, found = events.case.run, []
        ways = sorted(_ways(events), key=lambda way: (way.group, way.began, way.ended, way.process, way.place))
        for group, mine in groupby(ways, key=lambda way: way.group):
            _, *rebalances = _overlapping(mine)  # the first is the first assignment of the group
            found += [
                _row(group, rebalance) for rebalance in rebalances if run.began <= rebalance[0].began <= run.ended
            ]
        return informing(found)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield number of rebalances, unnecessary ones, ``rebalance_time`` (the longest) and moved partitions by group.

        None in a window that ended before any member started. Censored in a window in which a member's log may be
        incomplete.
        """
        rows = found.rows("group", "began", "ended", "taken", "given", "lost")
        spans = [TimeSpan(row["group"], row["began"], row["ended"]) for row in rows]
        even = [
            TimeSpan(r["group"], r["began"], r["ended"]) for r in rows if r["taken"] == r["given"] and not r["lost"]
        ]
        changed = events.once(changes) if even else {}
        idle = [span for span in even if not any(_overlap(span, change) for change in changed[span.name])]
        moved = events.once(moves) if spans else Counter()
        for group in events.case.groups:
            members = [worker.probe for worker in events.case.workers if worker.group == group]
            for window in events.case.windows:
                counts = _figures(window, group, spans, idle) | {"moved_partitions": float(moved[group, window.name])}
                here, more = there(events.case, members, window), incomplete(events.case, members, window)
                for metric, value in counts.items():
                    yield measured(metric, group, window.name, value if here else None, censored=here and more)


@dataclass(frozen=True, slots=True)
class _Change:
    """An assignment of a partition to a process of a member, or its end."""

    group: str
    place: PlaceKey
    at: int
    process: Process
    rebalance: int
    kind: str

    @property
    def gives(self) -> bool:
        return self.kind == "assign"


@dataclass(frozen=True, slots=True)
class _Way:
    """A revocation or an assignment of a partition, until the partition has a member again."""

    group: str
    place: PlaceKey
    process: Process
    began: int
    ended: int
    kind: str


def _row(group: str, ways: Sequence[_Way]) -> dict[str, Any]:
    began, ended = ways[0].began, max(way.ended for way in ways)
    given = sum(way.kind == "assign" for way in ways)
    return {
        "began": began, "ended": ended, "group": group, "seconds": (ended - began) / 1e9,
        "members": len({way.process for way in ways}), "taken": len(ways) - given, "given": given,
        "lost": sum(way.kind == "lost" for way in ways),
    }  # fmt: skip


def _overlapping(ways: Iterable[_Way]) -> Iterator[list[_Way]]:
    """Yield lists of ways, sorted by their beginning, that overlap each other or touch."""
    mine: list[_Way] = []
    for way in ways:
        if mine and way.began > max(one.ended for one in mine):
            yield mine
            mine = []
        mine.append(way)
    if mine:
        yield mine


def _partitions(changes: Iterable[_Change]) -> Iterator[list[_Change]]:
    """Yield the changes of each partition of each group, in order of time."""
    ordered = sorted(changes, key=lambda one: (one.group, one.place, one.at, one.process, one.rebalance))
    for _, mine in groupby(ordered, key=lambda one: (one.group, one.place)):
        yield list(mine)


def _ways(events: Events) -> Iterator[_Way]:
    """Yield each revocation and assignment of a partition.

    A revoked partition is in transit until a member is assigned it. There is no transit if that member's process began
    later, or if another member had been assigned the partition before, as after a pause.
    """
    started = {(worker.probe, worker.incarnation): worker.started for worker in events.case.workers}
    for mine in _partitions(_noticed(events)):
        holder: Process | None = None
        for number, change in enumerate(mine):
            ended = change.at
            if change.gives:
                holder = change.process
            elif holder == change.process:
                taker = next((one for one in mine[number + 1 :] if one.gives), None)
                if taker is not None and started.get(taker.process, taker.at + 1) <= change.at:
                    ended = taker.at
            yield _Way(change.group, change.place, change.process, change.at, ended, change.kind)


def moves(events: Events) -> Counter[tuple[str, str]]:
    """Count by group and window the assignments of a partition to another member than its last one."""
    counts = Counter[tuple[str, str]]()
    for mine in _partitions(change for change in _noticed(events) if change.gives):
        for before, after in pairwise(mine):
            if before.process != after.process:
                windows = [window.name for window in events.case.windows if window.began <= after.at < window.ended]
                counts.update((after.group, window) for window in windows)
    return counts


def changes(events: Events) -> dict[str, list[TimeSpan]]:
    """Return by group the spans in which a change of its members may cause a rebalance.

    A started process may cause one until it has partitions, and for at least 15 s. A process that ends may cause one
    within 15 s of its end, and a killed process within 60 s of its last poll.
    """
    given, polled = (_extremes(events.rows, *columns) for columns in (("assignments", "at"), ("polls", "completed")))
    ends = {(row["probe"], row["incarnation"]): row["at"] for row in read(events.case.events, "ends").to_pylist()}
    found: dict[str, list[TimeSpan]] = {}
    for worker in events.case.workers:
        process = (worker.probe, worker.incarnation)
        stays = found.setdefault(worker.group or "", [])
        first, _ = given.get(process, (0, 0))
        stays.append(TimeSpan("start", worker.started, max(worker.started + _SOON, first)))
        if process in ends:
            stays.append(TimeSpan("end", ends[process] - _SOON, ends[process] + _SOON))
        else:
            _, last = polled.get(process, (0, worker.started))
            stays.append(TimeSpan("kill", last, last + _MISSED))
    return found


def _extremes(rows: EventRows, table: str, column: str) -> dict[Process, tuple[int, int]]:
    """Return the first and the last time of each process in a table; of assignments, those that give a partition."""
    processes, times = rows.processes(table), rows.column(table, column)
    if table == "assignments":
        gives = rows.column(table, "kind") == rows.code("kind", "assign")
        processes, times = processes[gives], times[gives]
    names, which = np.unique(processes, return_inverse=True)
    first, last = np.full(names.size, np.iinfo(np.int64).max), np.full(names.size, EMPTY)
    np.minimum.at(first, which, times)
    np.maximum.at(last, which, times)
    spans = zip(names.tolist(), first.tolist(), last.tolist(), strict=True)
    return {rows.process(name): (low, high) for name, low, high in spans}


def _figures(window: TimeSpan, group: str, spans: Sequence[TimeSpan], idle: Sequence[TimeSpan]) -> dict[str, float]:
    mine, its_idle = (
        [s for s in each if s.name == group and (window.name == "run" or _overlap(s, window))] for each in (spans, idle)
    )
    longest = max((s.ended - s.began for s in mine), default=0) / 1e9
    return {
        "rebalances": float(len(mine)), "unnecessary_rebalances": float(len(its_idle)), "rebalance_time": longest,
    }  # fmt: skip


def _overlap(span: TimeSpan, window: TimeSpan) -> bool:
    return span.began <= window.ended and window.began <= span.ended


def static(case: Case) -> dict[str, str]:
    """Return the ``group.instance.id`` by probe; a process replaces the earlier one with the same id."""
    consumes = {name: kinds.get("consume") or {} for name, kinds in case.plan.probes.items()}
    ids = {name: (each.get("config") or {}).get("group.instance.id") for name, each in sorted(consumes.items())}
    return {name: str(one) for name, one in ids.items() if one is not None}


def _noticed(events: Events) -> list[_Change]:
    """Return the assignments of groups, without those that the group did not notice.

    It does not notice what one process of a static member gave up and its next process took up. A fenced process lost
    no partition of the member: it only learned that another process is now the member.
    """
    changes = [
        _Change(
            row["group"], (row["topic"], row["partition"]), row["at"], (row["probe"], row["incarnation"]),
            row["rebalance"], row["kind"],
        )
        for row in read(events.case.events, "assignments", wanted=pc.is_valid(pc.field("group"))).to_pylist()
    ]  # fmt: skip
    members = static(events.case)
    if not members:
        return changes
    errors = read(events.case.events, "errors", ("probe", "incarnation"), pc.field("error") == FENCED).to_pylist()
    fenced = {(row["probe"], row["incarnation"]) for row in errors}
    told = [change for change in changes if change.process not in fenced or change.kind != "lost"]
    found = []
    for mine in _partitions(told):
        for before, change, after in zip([None, *mine], mine, [*mine[1:], None], strict=False):
            taken_up = change.gives and _same_member(members, change, before, "assign", "revoke")
            given_up = change.kind == "revoke" and _same_member(members, change, after, "assign")
            if not taken_up and not given_up:
                found.append(change)
    return found


def _same_member(members: Mapping[str, str], change: _Change, other: _Change | None, *kinds: str) -> bool:
    """Return True if another change, of one of these kinds, is of another process of the same static member."""
    if other is None or other.kind not in kinds or other.process == change.process:
        return False
    mine = members.get(change.process[0])
    return mine is not None and members.get(other.process[0]) == mine
