"""The case: all about a run that is not bulk: its plan, how it went, its faults, phases and processes, as plain values.

It is read by ``chaosk.analysis.reading``; the big event tables are Spark's (``chaosk.analysis.events``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chaosk.analysis.former import Former
from chaosk.analysis.intervals import Interval
from chaosk.analysis.planned import Planned
from chaosk.analysis.tally import Tally
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
"""What the names of the spans of ``Case.looks`` begin with: no entry has such a name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, monotonic nanoseconds: from ``began`` on, before ``ended``."""

    name: str
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """What event tables lack, or have too much of, against what their writers say that they wrote."""

    tables: tuple[str, ...]
    """Those that it may concern."""
    what: str
    """In words."""
    short: bool = True
    """Whether rows are missing, or are another run's: then what is not there may have happened all the same.

    Else there are more than were written, as where one stands there twice.
    """
    told: bool = True
    """Whether no other guard tells of it."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The heartbeats of one process, as far as they matter, monotonic nanoseconds."""

    last: int
    gaps: tuple[Interval, ...] = ()
    """From one beat to the next, where that took too long."""


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
        """Who reads: the group, or the probe where it has none."""
        return self.group or self.probe


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a topic as a broker reported it, when it was asked first, and whenever it had changed."""

    at: int
    topic: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Committed:
    """The committed offset of a group and partition after the run."""

    group: str
    topic: str
    partition: int
    offset: int | None
    """As the cluster tells it; None if there is none."""
    asked: int | None
    """The highest that any process of the run asked to commit, or found; None where none did either."""


@dataclass(frozen=True)
class Case:
    """One run: what was planned, and what became of it."""

    rundir: RunDir
    events: Path
    """Where its event tables are."""
    former: Former
    """Topics that were made again; of a run as it was recorded, and as the rules see it."""
    plan: Planned
    record: RunRecord
    acted: tuple[Fault, ...]
    """Every timeline entry that acted, by when it began."""
    decisions: tuple[Decision, ...]
    """What an operator decided or noted, by time."""
    phases: tuple[Span, ...]
    unfinished: tuple[str, ...]
    """Phases that were cut short."""
    workers: tuple[Worker, ...]
    ends: dict[Process, dict[str, int]]
    """By process, the columns of its end marker."""
    tallies: dict[Process, Tally]
    """By process the last tally that it left of itself."""
    ranges: tuple[dict[str, Any], ...]
    """Rows of ``audit_ranges``."""
    committed: tuple[Committed, ...]
    """What the cluster says after the run that groups committed."""
    clocks: tuple[tuple[int, int], ...]
    """Monotonic and wall clock, by the former."""
    rows: dict[str, int]
    """By table how many rows it has."""
    held: Mapping[tuple[str, str], frozenset[int]]
    """By reader and topic the partitions of which its members were given any."""
    settings: tuple[Setting, ...]
    """Settings of topics as brokers reported them, by time; none of a run that was recorded before they were asked."""
    silences: tuple[Span, ...]
    """Stretches in which nothing at all was written, as if the machine had stood still."""
    foreign: bool
    """Whether readers or the tail audit saw records that are not of this run."""
    fenced: dict[Process, int]
    """Processes whose ``transactional.id`` another client took over, and since when they know: they write no more."""
    uncertain_with_offset: bool
    """Whether a send of unknown fate names an offset, which is rare."""
    hosts: dict[int, str]
    """By broker id the host that it runs on."""
    replicas: dict[tuple[str, int], frozenset[int]]
    """By topic and partition every broker that was ever seen to have a replica; of runs that it matters for only."""
    discrepancies: tuple[Discrepancy, ...] = ()
    """What the event tables are known to lack."""
    pulses: Mapping[str, Pulse] = field(default_factory=dict)
    """By writer its heartbeats; none of a run that was recorded before there were any."""

    def short(self, *tables: str) -> tuple[str, ...]:
        """Those of some event tables that are known to lack rows, sorted: that a row is not there proves nothing."""
        lacking = {table for one in self.discrepancies if one.short for table in one.tables}
        return tuple(sorted(lacking.intersection(tables)))

    def surplus(self, *tables: str) -> tuple[str, ...]:
        """Those of some event tables that have rows which nobody wrote, sorted: that a row is there proves nothing."""
        more = {table for one in self.discrepancies if not one.short for table in one.tables}
        return tuple(sorted(more.intersection(tables)))

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The entries that did something to somebody: all but those that wait or look."""
        return tuple(entry for entry in self.acted if entry.step not in QUIET)

    @cached_property
    def windows(self) -> tuple[Span, ...]:
        """The windows figures are measured over: run, baseline, each entry that acted, after_heal."""
        by_name = {span.name: span for span in self.phases}
        first, last = by_name.get("baseline"), by_name.get("settle") or by_name.get("timeline")
        began = first.began if first else self.record.began
        ended = last.ended if last else self.record.ended
        spans = [Span("run", began, ended)]
        if first:
            spans.append(Span("baseline", first.began, first.ended))
        spans.extend(_window(entry, ended) for entry in self.acted)
        if healed := self.last_heal:
            spans.append(Span("after_heal", healed, max(healed, ended)))
        return tuple(spans)

    @cached_property
    def looks(self) -> tuple[Span, ...]:
        """For each fault the time in which somebody has to have been at work, by its name: its window.

        A fault of a moment, like a restart or an election, is felt by what clients do next, in the five seconds from
        its begin on; one that stays, and for less than a second, has a second. No probe polls less often than that,
        and one that is to send or ask more seldom has not felt it if it did neither meanwhile.
        """
        ended = self.run.ended
        spans = [(fault, _window(fault, ended)) for fault in self.faults]
        least = (_MOMENT if fault.undone and fault.healed is None else _SECOND for fault, _ in spans)
        return tuple(
            Span(LOOK + one.name, one.began, max(one.ended, one.began + time))
            for (_, one), time in zip(spans, least, strict=True)
        )

    @property
    def run(self) -> Span:
        """From the baseline's begin to the end of the time that is measured."""
        return self.windows[0]

    @property
    def baseline(self) -> Span | None:
        """The baseline, if there was one."""
        return next((span for span in self.windows if span.name == "baseline"), None)

    @property
    def last_heal(self) -> int | None:
        """When the last fault was over; None if there was none."""
        over = [fault.healed or fault.applied for fault in self.faults]
        return max((time for time in over if time is not None), default=None)

    def probes(self, kind: str) -> tuple[str, ...]:
        """Names of the probes of a kind, like ``produce``, that got ready, sorted."""
        return tuple(sorted({worker.probe for worker in self.workers if worker.kind == kind}))

    @property
    def consumers(self) -> tuple[tuple[str, str], ...]:
        """Each probe that reads, and whom it reads for (its group, or itself), sorted."""
        return tuple(sorted({(w.probe, w.reader) for w in self.workers if w.kind in ("consume", "transform")}))

    @property
    def groups(self) -> tuple[str, ...]:
        """The consumer groups, sorted."""
        return tuple(sorted({worker.group for worker in self.workers if worker.group}))

    @property
    def unended(self) -> frozenset[Process]:
        """Processes without an end marker: what they did last may be missing."""
        return frozenset((w.probe, w.incarnation) for w in self.workers if (w.probe, w.incarnation) not in self.ends)

    @cached_property
    def deaf(self) -> frozenset[Process]:
        """Processes that write with ``acks=0``: no broker tells them an offset."""
        return frozenset((w.probe, w.incarnation) for w in self.workers if w.acks == 0)

    def reach(self, process: Process) -> tuple[int, int, int]:
        """Up to when, and up to which delivery and poll, a process's tally stands for: one that ended, for all."""
        if process in self.ends:
            return _NEVER, _NEVER, _NEVER
        tally = self.tallies[process]
        return tally.at, tally.reads, tally.polls

    @property
    def transactional(self) -> bool:
        """Whether any transaction took place."""
        return self.rows["transactions"] > 0

    def compacted(self, topic: str) -> bool:
        """Whether the topic's log is compacted, so that records vanish rightly."""
        return topic in self.topics and self.plan.topics[topic].compacted

    def whole(self, topic: str) -> bool:
        """Whether the tail audit read all of a topic, from the very first record on."""
        cut = topic in self.former.topics
        cut = cut or any(row["topic"] == topic and row["log_start"] > 0 for row in self.ranges)
        shape = self.topics.get(topic)
        return not cut and shape is not None and all((topic, n) in self.complete for n in range(shape.partitions))

    def changed(self, topic: str, setting: str) -> tuple[Any, ...]:
        """The values that entries are to set, whether they took or not."""
        steps = (e.step for e in self.plan.timeline if e.kind == "set_topic_config" and e.step.get("topic") == topic)
        return tuple(config[setting] for step in steps if setting in (config := step.get("config") or {}))

    @cached_property
    def topics(self) -> dict[str, Topic]:
        """The scenario's topics, each with the partitions that it had in the end."""
        return {
            name: shape.model_copy(update={"partitions": max(shape.partitions, self._grown(name))})
            for name, shape in self.plan.topics.items()
        }

    def _grown(self, topic: str) -> int:
        """How many partitions a topic got, as the entries say that took, and as the tail audit found it."""
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

    def overlapped(self, began: int | None, ended: int | None) -> tuple[str, ...]:
        """Names of the faults whose windows a stretch of time overlaps, in the order they were injected."""
        low, high = began if began is not None else ended, ended if ended is not None else began
        if low is None or high is None:
            return ()
        return tuple(
            f.name for f in self.faults if f.invoked <= high and low <= (f.healed or _end_of(f, self.record.ended))
        )


def _window(entry: Fault, ended: int) -> Span:
    """An entry's window: from applied until healed, or all that it took if it leaves nothing to undo, like a wait."""
    passing = entry.undone and entry.healed is None
    began = entry.invoked if passing else entry.applied or entry.invoked
    return Span(entry.name, began, entry.healed or _end_of(entry, ended))


def _end_of(fault: Fault, ended: int) -> int:
    """When a fault without a verified undo was over: at once if it leaves nothing, else never."""
    return (fault.applied or fault.invoked) if fault.undone else max(ended, fault.invoked)
