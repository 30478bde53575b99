"""The case: plan, record, faults, phases and processes of a run, as plain values, without the bulk data.

``chaosk.analysis.case_loader`` reads it; the big event tables are Spark's (``chaosk.analysis.events``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chaosk.analysis.intervals import Interval
from chaosk.analysis.plan_excerpt import PlanExcerpt
from chaosk.analysis.recreated.generations import RecreatedTopics
from chaosk.analysis.reported_counts import ReportedCounts
from chaosk.rundir.decision import Decision
from chaosk.rundir.paths import RunDir
from chaosk.rundir.record import RunRecord
from chaosk.rundir.verdict import QUIET, Fault
from chaosk.spec.scenario import Topic

PlaceKey = tuple[str, int]
"""Topic and partition."""
Process = tuple[str, int]
"""Probe and incarnation."""
MIN_ISR = "min.insync.replicas"
_NEVER = 2**63 - 1
_SECOND = 1_000_000_000
_MOMENT = 5 * _SECOND
LOOK = "felt: "
"""Prefix of the names of ``Case.looks``; no entry has such a name."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time in monotonic nanoseconds: from ``began`` to before ``ended``."""

    name: str
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Missing or surplus rows of event tables, compared with the counts of their writers."""

    tables: tuple[str, ...]
    """Tables that it may concern."""
    what: str
    """Description for display."""
    short: bool = True
    """True if rows are missing, or are another run's: an event without a row may have happened.

    False if there are more rows than were written, such as a duplicate row.
    """
    told: bool = True
    """True if no other guard reports it."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """Heartbeats of one process, as far as they matter, in monotonic nanoseconds."""

    last: int
    gaps: tuple[Interval, ...] = ()
    """Times between two beats that were too far apart."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One process of a probe."""

    probe: str
    incarnation: int
    kind: str
    group: str | None
    started: int
    acks: int | None
    idempotent: bool | None
    isolation: str | None
    commit: str | None
    client: str

    @property
    def reader(self) -> str:
        """Return the group, or the probe if it has none."""
        return self.group or self.probe


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a topic as a broker reported it, at the first query and at each change."""

    at: int
    topic: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FinalCommit:
    """The committed offset of a group and partition after the run."""

    group: str
    topic: str
    partition: int
    offset: int | None
    """As reported by the cluster; None if there is none."""
    asked: int | None
    """Highest offset that any process of the run asked to commit, or found; None without any."""


@dataclass(frozen=True)
class Case:
    """One run: its plan and its outcome."""

    rundir: RunDir
    events: Path
    """Folder of its event tables."""
    former: RecreatedTopics
    """Recreated topics; in a run as recorded, and as the rules see it."""
    plan: PlanExcerpt
    record: RunRecord
    acted: tuple[Fault, ...]
    """Every timeline entry that acted, by its start."""
    decisions: tuple[Decision, ...]
    """Decisions and notes of an operator, by time."""
    phases: tuple[TimeSpan, ...]
    unfinished: tuple[str, ...]
    """Phases that did not finish."""
    workers: tuple[Worker, ...]
    ends: dict[Process, dict[str, int]]
    """Columns of the end marker, by process."""
    tallies: dict[Process, ReportedCounts]
    """Last tally by process."""
    ranges: tuple[dict[str, Any], ...]
    """Rows of ``audit_ranges``."""
    committed: tuple[FinalCommit, ...]
    """Committed offsets that the cluster reported after the run."""
    clocks: tuple[tuple[int, int], ...]
    """Pairs of monotonic and wall clock, by monotonic time."""
    rows: dict[str, int]
    """Number of rows by table."""
    held: Mapping[tuple[str, str], frozenset[int]]
    """Partitions that members were ever assigned, by reader and topic."""
    settings: tuple[Setting, ...]
    """Settings of topics as reported by brokers, by time; none in runs older than these queries."""
    silences: tuple[TimeSpan, ...]
    """Stretches without any written row, as if the machine had stalled."""
    foreign: bool
    """True if readers or the tail audit saw records that are not of this run."""
    fenced: dict[Process, int]
    """Processes whose ``transactional.id`` another client took over, with the time at which they learned it and
    stopped."""
    uncertain_with_offset: bool
    """True if a send of unknown fate that met no error names an offset, which is rare."""
    hosts: dict[int, str]
    """Host of each broker id."""
    replicas: dict[tuple[str, int], frozenset[int]]
    """Every broker that was ever seen as a replica, by topic and partition; only in runs that need it."""
    first_replicas: Mapping[PlaceKey, tuple[int, int]] = field(default_factory=dict)
    """Time and number of replicas of the first sample of each partition."""
    first_partitions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Time and number of partitions of the first sample of each topic."""
    discrepancies: tuple[Discrepancy, ...] = ()
    """Known deficiencies of the event tables."""
    client: Mapping[str, Any] = field(default_factory=dict)
    """Client settings of the inventory that all probes share."""
    pulses: Mapping[str, Pulse] = field(default_factory=dict)
    """Heartbeats by writer; none in runs older than heartbeats."""
    replaced: Mapping[Process, int] = field(default_factory=dict)
    """Consumers whose ``group.instance.id`` another process took, with the time at which they learned it."""

    def short(self, *tables: str) -> tuple[str, ...]:
        """Return those of some event tables that are known to lack rows, sorted: a missing row proves nothing."""
        lacking = {table for one in self.discrepancies if one.short for table in one.tables}
        return tuple(sorted(lacking.intersection(tables)))

    def surplus(self, *tables: str) -> tuple[str, ...]:
        """Return those of some event tables with rows that were not written, sorted: a row proves nothing."""
        more = {table for one in self.discrepancies if not one.short for table in one.tables}
        return tuple(sorted(more.intersection(tables)))

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The entries that may affect the cluster or clients: all but those that only wait or observe."""
        return tuple(entry for entry in self.acted if entry.step not in QUIET)

    @cached_property
    def windows(self) -> tuple[TimeSpan, ...]:
        """Windows of figures: run, baseline, each entry that acted, after_heal."""
        by_name = {span.name: span for span in self.phases}
        first, last = by_name.get("baseline"), by_name.get("settle") or by_name.get("timeline")
        began = first.began if first else self.record.began
        ended = last.ended if last else self.record.ended
        spans = [TimeSpan("run", began, ended)]
        if first:
            spans.append(TimeSpan("baseline", first.began, first.ended))
        spans.extend(_window(entry, ended) for entry in self.acted)
        if healed := self.last_heal:
            spans.append(TimeSpan("after_heal", healed, max(healed, ended)))
        return tuple(spans)

    @cached_property
    def looks(self) -> tuple[TimeSpan, ...]:
        """The time of each fault in which a probe must have been active, named after the fault.

        It is the fault's window. An instantaneous fault, like a restart or an election, is felt by the requests of the
        next five seconds from its start. A fault that lasts for less than a second has one second. No probe polls less
        often than that. A probe that sends or asks less often has not felt the fault if it did neither in this time.
        """
        ended = self.run.ended
        spans = [(fault, _window(fault, ended)) for fault in self.faults]
        least = (_MOMENT if fault.undone and fault.healed is None else _SECOND for fault, _ in spans)
        return tuple(
            TimeSpan(LOOK + one.name, one.began, max(one.ended, one.began + time))
            for (_, one), time in zip(spans, least, strict=True)
        )

    @property
    def run(self) -> TimeSpan:
        """Time from the baseline's start to the end of the measured time."""
        return self.windows[0]

    @property
    def baseline(self) -> TimeSpan | None:
        """The baseline, if there was one."""
        return next((span for span in self.windows if span.name == "baseline"), None)

    @property
    def last_heal(self) -> int | None:
        """End of the last fault; None without faults."""
        over = [fault.healed or fault.applied for fault in self.faults]
        return max((time for time in over if time is not None), default=None)

    def probes(self, kind: str) -> tuple[str, ...]:
        """Return the names of the probes of a kind, like ``produce``, that became ready, sorted."""
        return tuple(sorted({worker.probe for worker in self.workers if worker.kind == kind}))

    @property
    def consumers(self) -> tuple[tuple[str, str], ...]:
        """Each consuming probe with its reader (its group, or itself), sorted."""
        return tuple(sorted({(w.probe, w.reader) for w in self.workers if w.kind in ("consume", "transform")}))

    @property
    def groups(self) -> tuple[str, ...]:
        """The consumer groups, sorted."""
        return tuple(sorted({worker.group for worker in self.workers if worker.group}))

    @property
    def unended(self) -> frozenset[Process]:
        """Processes without an end marker: their last rows may be missing."""
        return frozenset((w.probe, w.incarnation) for w in self.workers if (w.probe, w.incarnation) not in self.ends)

    @cached_property
    def deaf(self) -> frozenset[Process]:
        """Processes that write with ``acks=0``: no broker reports an offset to them."""
        return frozenset((w.probe, w.incarnation) for w in self.workers if w.acks == 0)

    def reach(self, process: Process) -> tuple[int, int, int]:
        """Return the time, deliveries and polls up to which a process's tally counts; unlimited with an end marker."""
        if process in self.ends:
            return _NEVER, _NEVER, _NEVER
        tally = self.tallies[process]
        return tally.at, tally.reads, tally.polls

    @property
    def transactional(self) -> bool:
        """True if there was any transaction."""
        return self.rows["transactions"] > 0

    def compacted(self, topic: str) -> bool:
        """Return True if the topic's log is compacted, so that records may be removed."""
        return topic in self.topics and self.plan.topics[topic].compacted

    def whole(self, topic: str) -> bool:
        """Return True if the tail audit read all of a topic, from offset 0 on."""
        cut = topic in self.former.topics
        cut = cut or any(row["topic"] == topic and row["log_start"] > 0 for row in self.ranges)
        shape = self.topics.get(topic)
        return not cut and shape is not None and all((topic, n) in self.complete for n in range(shape.partitions))

    def changed(self, topic: str, setting: str) -> tuple[Any, ...]:
        """Return the values that entries set, whether or not they took."""
        steps = (e.step for e in self.plan.timeline if e.kind == "set_topic_config" and e.step.get("topic") == topic)
        return tuple(config[setting] for step in steps if setting in (config := step.get("config") or {}))

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """The scenario's topics, each with its final number of partitions."""
        return {
            name: shape.model_copy(update={"partitions": max(shape.partitions, self._grown(name))})
            for name, shape in self.plan.topics.items()
        }

    def _grown(self, topic: str) -> int:
        """Return the number of partitions of a topic from entries that took, and from the tail audit."""
        took = {entry.name for entry in self.acted if entry.took}
        added = (e.step for e in self.plan.timeline if e.kind == "create_partitions" and e.name in took)
        counts = [int(step["count"]) for step in added if step.get("topic") == topic]
        return max([*counts, *(row["partition"] + 1 for row in self.ranges if row["topic"] == topic)], default=0)

    @property
    def complete(self) -> frozenset[PlaceKey]:
        """Partitions whose tail audit is complete at both isolation levels."""
        found: dict[PlaceKey, set[str]] = {}
        for row in self.ranges:
            if row["complete"]:
                found.setdefault((row["topic"], row["partition"]), set()).add(row["isolation"])
        return frozenset(place for place, levels in found.items() if len(levels) == 2)

    @cached_property
    def fault_spans(self) -> tuple[TimeSpan, ...]:
        """Time of each fault from its start until its verified undo, or to the end of the run without one."""
        return tuple(TimeSpan(f.name, f.invoked, f.healed or _end_of(f, self.record.ended)) for f in self.faults)

    def overlapped(self, began: int | None, ended: int | None) -> tuple[str, ...]:
        """Return the names of the faults whose windows overlap a stretch of time, by injection."""
        low, high = began if began is not None else ended, ended if ended is not None else began
        if low is None or high is None:
            return ()
        return tuple(span.name for span in self.fault_spans if span.began <= high and low <= span.ended)


def _window(entry: Fault, ended: int) -> TimeSpan:
    """Return an entry's window: from applied until healed, or its duration if there is nothing to undo, like a wait."""
    passing = entry.undone and entry.healed is None
    began = entry.invoked if passing else entry.applied or entry.invoked
    return TimeSpan(entry.name, began, entry.healed or _end_of(entry, ended))


def _end_of(fault: Fault, ended: int) -> int:
    """Return the end of a fault without a verified undo: at once if there is nothing to undo, else never."""
    return (fault.applied or fault.invoked) if fault.undone else max(ended, fault.invoked)
