"""The case: all about a run that is not bulk: its plan, how it went, its faults, phases and processes, as plain values.

The small event tables are read here with pyarrow; the big ones are Spark's (``chaosk.analysis.events``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from chaosk.arrow import SCHEMAS
from chaosk.errors import AnalysisError
from chaosk.expect import Expect
from chaosk.rundir import RunDir
from chaosk.runrecord import RunRecord
from chaosk.scenario import GRAMMAR, Topic
from chaosk.verdict import Fault

PlaceKey = tuple[str, int]
"""Topic and partition."""
Process = tuple[str, int]
"""Probe and incarnation."""


class _Lenient(BaseModel):
    """Reads what it needs and leaves the rest, so a run with steps of a plugin can be judged where it is missing."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PlannedEntry(_Lenient):
    """A timeline entry, as far as judging needs it."""

    name: str
    kind: str
    step: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "kind" in value:
            return value
        kinds = [key for key in value if key not in GRAMMAR]
        return {"name": value.get("name"), "kind": kinds[0], "step": value[kinds[0]] or {}} if kinds else value


class Planned(_Lenient):
    """The scenario in ``plan.json``, as far as judging needs it."""

    name: str
    hypothesis: str
    covers: tuple[str, ...] = ()
    topics: dict[str, Topic]
    probes: dict[str, dict[str, Any]]
    timeline: Annotated[tuple[PlannedEntry, ...], Field(default=())]
    expect: Expect = Expect()


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, monotonic nanoseconds: from ``began`` on, before ``ended``."""

    name: str
    began: int
    ended: int


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


@dataclass(frozen=True)
class Case:
    """One run: what was planned, and what became of it."""

    rundir: RunDir
    plan: Planned
    record: RunRecord
    faults: tuple[Fault, ...]
    """By the time they were injected."""
    phases: tuple[Span, ...]
    unfinished: tuple[str, ...]
    """Phases that were cut short."""
    workers: tuple[Worker, ...]
    ends: dict[Process, dict[str, int]]
    """By process, the columns of its end marker."""
    ranges: tuple[dict[str, Any], ...]
    """Rows of ``audit_ranges``."""
    clocks: tuple[tuple[int, int], ...]
    """Monotonic and wall clock, by the former."""
    rows: dict[str, int]
    """By table how many rows it has."""
    held: dict[str, frozenset[str]]
    """By group the topics of which its members were given partitions."""
    foreign: bool
    """Whether readers or the tail audit saw records that are not of this run."""
    uncertain_with_offset: bool
    """Whether a send of unknown fate names an offset, which is rare."""

    @cached_property
    def windows(self) -> tuple[Span, ...]:
        """The windows figures are measured over: run, baseline, each entry that took, after_heal."""
        by_name = {span.name: span for span in self.phases}
        first, last = by_name.get("baseline"), by_name.get("settle") or by_name.get("timeline")
        began = first.began if first else self.record.began
        ended = last.ended if last else self.record.ended
        spans = [Span("run", began, ended)]
        if first:
            spans.append(Span("baseline", first.began, first.ended))
        spans.extend(Span(f.name, f.applied or f.invoked, f.healed or _end_of(f, ended)) for f in self.faults)
        if healed := self.last_heal:
            spans.append(Span("after_heal", healed, max(healed, ended)))
        return tuple(spans)

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
        """Names of the probes of a kind (``produce`` or ``consume``) that got ready, sorted."""
        return tuple(sorted({worker.probe for worker in self.workers if worker.kind == kind}))

    @property
    def groups(self) -> tuple[str, ...]:
        """The consumer groups, sorted."""
        return tuple(sorted({worker.group for worker in self.workers if worker.group}))

    @property
    def unended(self) -> frozenset[Process]:
        """Processes without an end marker: what they did last may be missing."""
        return frozenset((w.probe, w.incarnation) for w in self.workers if (w.probe, w.incarnation) not in self.ends)

    @property
    def transactional(self) -> bool:
        """Whether any transaction took place."""
        return self.rows["transactions"] > 0

    def unclean(self, topic: str) -> bool:
        """Whether an unclean election was allowed for a topic, by its settings or by an entry that asks for one."""
        setting = self.plan.topics[topic].config.get("unclean.leader.election.enable") if topic in self.topics else None
        asked = (e.step for e in self.plan.timeline if e.kind == "elect_leader")
        return str(setting).lower() == "true" or any(
            step.get("election") == "unclean" and step.get("topic") == topic for step in asked
        )

    def compacted(self, topic: str) -> bool:
        """Whether the topic's log is compacted, so that records vanish rightly."""
        return topic in self.topics and "compact" in str(self.plan.topics[topic].config.get("cleanup.policy", ""))

    @property
    def topics(self) -> dict[str, Topic]:
        """The scenario's topics."""
        return self.plan.topics

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


def _end_of(fault: Fault, ended: int) -> int:
    """When a fault without a verified undo was over: at once if it leaves nothing, else never."""
    return (fault.applied or fault.invoked) if fault.undone else max(ended, fault.invoked)


def read_case(rundir: RunDir) -> Case:
    """Read a run directory's documents and small tables; raises AnalysisError where they cannot be read."""
    tables = {name: _table(rundir, name) for name in ("faults", "phases", "incarnations", "ends", "audit_ranges")}
    clocks = sorted((row["monotonic"], row["wall"]) for row in _table(rundir, "clocks"))
    workers = [Worker(**{name: row[name] for name in Worker.__slots__}) for row in tables["incarnations"]]
    phases = sorted((row["began"], row["phase"], row["ended"]) for row in tables["phases"])
    record = _record(rundir, [row[0] for row in phases] or [row[0] for row in clocks])
    return Case(
        rundir=rundir,
        plan=_planned(rundir),
        record=record,
        faults=tuple(
            Fault(**_renamed(row)) for row in sorted(tables["faults"], key=lambda r: (r["invoked"], r["fault"]))
        ),
        phases=tuple(Span(name, began, ended or record.ended) for began, name, ended in phases),
        unfinished=tuple(name for _, name, ended in phases if ended is None),
        workers=tuple(sorted(workers, key=lambda w: (w.probe, w.incarnation))),
        ends={
            (row["probe"], row["incarnation"]): {"scheduled": row["scheduled"], "rows": row["rows"]}
            for row in tables["ends"]
        },
        ranges=tuple(sorted(tables["audit_ranges"], key=lambda r: (r["isolation"], r["topic"], r["partition"]))),
        clocks=tuple(clocks),
        rows={name: _rows(rundir, name) for name in SCHEMAS},
        held=_held(rundir),
        foreign=_any(rundir, "reads", ["intact"], _not_ours) or _any(rundir, "audit", ["intact"], _not_ours),
        uncertain_with_offset=_any(rundir, "sends", ["outcome", "offset"], _uncertain),
    )


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    return {("name" if key == "fault" else key): value for key, value in row.items()}


def _planned(rundir: RunDir) -> Planned:
    class Document(_Lenient):
        scenario: Planned

    try:
        return Document.model_validate_json(rundir.plan.read_bytes()).scenario
    except (OSError, ValidationError) as error:
        raise AnalysisError(f"{rundir.plan}: cannot be read, so nothing says what was to be judged: {error}") from error


def _record(rundir: RunDir, times: list[int]) -> RunRecord:
    """How the run went; a run that was killed has not written it, and then nobody knows whether all was undone."""
    try:
        return RunRecord.model_validate_json(rundir.run.read_bytes())
    except FileNotFoundError:
        began, ended = min(times, default=0), max(times, default=0)
        return RunRecord(
            run_id="", began=began, wall=0, ended=ended, healed=False, error="it ended before it could write run.json"
        )
    except (OSError, ValidationError) as error:
        raise AnalysisError(f"{rundir.run}: cannot be read: {error}; without it the run cannot be judged") from error


def _table(rundir: RunDir, name: str) -> list[dict[str, Any]]:
    path = rundir.events / f"{name}.parquet"
    try:
        rows: list[dict[str, Any]] = pq.read_table(path, schema=SCHEMAS[name]).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise unreadable(rundir, name, error) from error
    return rows


def _rows(rundir: RunDir, name: str) -> int:
    try:
        return int(pq.read_metadata(rundir.events / f"{name}.parquet").num_rows)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(rundir, name, error) from error


def _held(rundir: RunDir) -> dict[str, frozenset[str]]:
    """By group the topics that its members were given partitions of."""
    found: dict[str, set[str]] = {}
    for row in _table(rundir, "assignments"):
        if row["group"] is not None:
            found.setdefault(row["group"], set()).add(row["topic"])
    return {group: frozenset(topics) for group, topics in sorted(found.items())}


def _any(rundir: RunDir, name: str, columns: list[str], holds: Callable[[pa.RecordBatch], Any]) -> bool:
    """Whether any row of a table, of which only some columns are read, is one."""
    try:
        with pq.ParquetFile(rundir.events / f"{name}.parquet") as file:
            return any(pc.any(holds(batch)).as_py() for batch in file.iter_batches(columns=columns))
    except (OSError, pa.ArrowException) as error:
        raise unreadable(rundir, name, error) from error


def _not_ours(batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - an array of bool, which pyarrow's stubs type too loosely to say
    return pc.invert(batch.column("intact"))


def _uncertain(batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - an array of bool, which pyarrow's stubs type too loosely to say
    return pc.and_(pc.equal(batch.column("outcome"), pa.scalar("info")), pc.is_valid(batch.column("offset")))


def unreadable(rundir: RunDir, name: str, error: BaseException) -> AnalysisError:
    """The error for an event table that is missing or damaged."""
    path = rundir.events / f"{name}.parquet"
    what = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({str(error).splitlines()[0][:200]})"
    return AnalysisError(
        f"{path}: the event table {what}, so the run cannot be judged; "
        f"if {rundir.live} still holds the live streams, delete {rundir.events} and analyze again"
    )
