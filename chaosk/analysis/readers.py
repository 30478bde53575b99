"""Readers of a run, and what each is owed: whole topics, independent of assignments.

A reader is a consumer group, or a probe that reads without one. Its debt follows from the plan, not from its
deliveries: a partition that no member ever owned is owed as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chaosk.analysis.case import Case, Process
from chaosk.analysis.completeness import gone
from chaosk.analysis.event_files import read
from chaosk.analysis.must_fail_windows import failing, meant
from chaosk.spec import group_timeouts

_KINDS = ("consume", "transform")
_LATEST = frozenset({"latest", "largest", "end"})
_REFRESH = "topic.metadata.refresh.interval.ms"
_REFRESHED = 300_000
"""Its default in librdkafka: the longest time until a group learns of a new partition."""
_FOR_EVER = 2**61
"""Patience with what may never come."""
_LISTED = 5_000_000_000
"""Nanoseconds from the creation of a partition until every broker lists it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader."""

    name: str
    """The group, or the probe without one."""
    topic: str
    """One topic that it reads."""
    partitions: frozenset[int] | None
    """Manually assigned ones; None for all.

    A reader that assigns itself all partitions lists them once, as its process starts. It has those that were there
    then, and those that it was ever assigned.
    """
    latest: bool
    """True if it, or any of its members, begins at the end of a partition without a committed offset."""
    mixed: bool
    """True if its members differ in that, so that a position which no member recorded is unknown.

    A reader that begins at the log's start is reset to the end only if the cluster refuses to say where that is.
    """
    start: str
    """Start of partitions assigned for the first time: ``committed``, ``beginning`` or ``end``."""
    alone: bool
    """True if it has no group, so that no offset is committed for it."""
    patience: int
    """Longest time in nanoseconds without an owner of a partition: a lost member is detected, and all join again."""
    discovery: int
    """Longest time in nanoseconds until its members learn that a partition was created."""
    discovered: int | None
    """Partitions from this number on were created in the run; None if none was."""
    dismissed: str | None
    """Reason why it is owed nothing at the end: the scenario ended it, or its application stopped. None if neither."""
    dismissed_at: int | None
    """Time from which it is owed nothing: the end of its last process, or the start of its must_fail period."""

    @property
    def anew(self) -> bool:
        """True if each of its processes begins at the end of the log, wherever an earlier one had come to."""
        return self.start == "end" or (self.alone and self.latest and not self.mixed)


def readers(case: Case) -> tuple[Reader, ...]:
    """Return every reader with each topic of its plan or of its assignments, by name and topic."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, probe in sorted(case.plan.probes.items()):
        for reading in (probe[kind] for kind in _KINDS if probe.get(kind)):
            key = str(reading.get("group") or name), str(reading["topic"])
            found.setdefault(key, []).append({"probe": name, **reading})
    members = {name: each for (name, _), each in found.items()}
    planned = [_reader(case, name, topic, each) for (name, topic), each in found.items()]
    others = [
        replace(_reader(case, name, topic, members[name]), partitions=partitions)
        for (name, topic), partitions in case.held.items()
        if name in members and (name, topic) not in found
    ]
    return tuple(sorted([*planned, *others], key=lambda reader: (reader.name, reader.topic)))


def patience(reader: Reader, partition: int, *, owned: bool) -> int:
    """Return the longest time in nanoseconds that time-outs explain in which no member of a reader owns a partition.

    ``owned``: a member was ever assigned it. Otherwise a partition that was created in the run has to be discovered.
    """
    new = reader.discovered is not None and partition >= reader.discovered and not owned
    return reader.patience + (reader.discovery if new else 0)


def owed(case: Case) -> dict[str, frozenset[str]]:
    """Return the topics owed to each reader."""
    found: dict[str, set[str]] = {}
    for reader in readers(case):
        found.setdefault(reader.name, set()).add(reader.topic)
    return {name: frozenset(topics) for name, topics in found.items()}


def at_the_end(case: Case) -> frozenset[str]:
    """Return the probes that begin at the end of a partition without a committed offset."""
    found = ((name, probe[kind]) for name, probe in case.plan.probes.items() for kind in _KINDS if probe.get(kind))
    return frozenset(
        name for name, reading in found if reading.get("start") == "end" or _resets_to_end(reading.get("config") or {})
    )


def _resets_to_end(config: dict[str, Any]) -> bool:
    return str(config.get("auto.offset.reset", "earliest")) in _LATEST


def _reader(case: Case, name: str, topic: str, members: list[dict[str, Any]]) -> Reader:
    chosen = [one.get("assign") for one in members]
    config = [one.get("config") or {} for one in members]
    dismissed, dismissed_at = _dismissed(case, {str(one["probe"]) for one in members})
    planned, names = case.plan.topics.get(topic), {str(one["probe"]) for one in members}
    grown = planned is not None and case.topics[topic].partitions > planned.partitions
    by_itself = all(map(_listed, chosen))
    listed = frozenset(number for each in chosen for number in each or ()) if by_itself else None
    discovery = max(_refresh(one) for one in config)
    if grown and all(each == "all" for each in chosen):
        known, sure = _there(case, names, topic)
        listed = frozenset(range(known)) | case.held.get((name, topic), frozenset())
        discovery = _FOR_EVER if sure < known else 0
    start = next((str(one["start"]) for one in members if one.get("start")), "committed")
    to_end = [_resets_to_end(one) for one in config]
    return Reader(
        name=name,
        topic=topic,
        partitions=listed,
        latest=start == "end" or any(to_end),
        mixed=start != "end" and any(to_end) and (start == "beginning" or not all(to_end)),
        start=start,
        alone=all(one.get("group") is None for one in members),
        patience=group_timeouts.patience(config) * 1_000_000,
        discovery=discovery,
        discovered=(planned.partitions if planned is not None and grown else None),
        dismissed=dismissed,
        dismissed_at=dismissed_at,
    )


def _refresh(config: dict[str, Any]) -> int:
    """Return the nanoseconds after which a member asks for the partitions of its topics; without limit if never."""
    every = int(config.get(_REFRESH, _REFRESHED))
    return every * 1_000_000 if every >= 0 else _FOR_EVER


def _there(case: Case, probes: set[str], topic: str) -> tuple[int, int]:
    """Return the number of partitions that may have been there as the last process started, and of those that were."""
    started = max((worker.started for worker in case.workers if worker.probe in probes), default=case.run.began)
    counts = {e.name: int(e.step["count"]) for e in case.plan.timeline if _grows(e.kind, e.step, topic)}
    may = [entry for entry in case.acted if entry.name in counts and entry.invoked <= started]
    sure = [e for e in may if e.took and e.applied is not None and e.applied + _LISTED <= started]
    planned = case.plan.topics[topic].partitions
    highest = [max([planned, *(counts[entry.name] for entry in entries)]) for entries in (may, sure)]
    return highest[0], highest[1]


def _grows(kind: str, step: dict[str, Any], topic: str) -> bool:
    return kind == "create_partitions" and step.get("topic") == topic


def _listed(assign: object) -> bool:
    return isinstance(assign, list | tuple)


def _dismissed(case: Case, probes: set[str]) -> tuple[str | None, int | None]:
    """Return the reason and time since which none of these probes is active, if that was intended.

    A process that stopped at a failure is active until then, although it runs on.
    """
    workers = {(worker.probe, worker.incarnation): worker for worker in case.workers if worker.probe in probes}
    mine = set(workers)
    stops = stopped(case)
    over = max((stops.get(process, gone(case, worker)) for process, worker in workers.items()), default=None)
    by_step = {(end.probe, end.incarnation) for end in case.record.probes if end.ended_by == "step"}
    if mine and mine <= by_step:
        return "a step of the scenario had ended the reader", over
    if mine and mine <= by_step | stops.keys():
        return "the application had stopped at a record that it failed to process, as it is told to", over
    to_fail = {probe: span for probe, span in failing(case).items() if span.ended >= case.run.ended}
    if mine and {process for process in mine - by_step if process[0] not in to_fail} == set():
        since = [_to_fail_since(case, name, to_fail[name].began) for name, _ in mine - by_step]
        ended = [gone(case, workers[process]) for process in mine & by_step]
        return "the scenario says that the reader must fail", max([*since, *ended])
    return None, None


def _to_fail_since(case: Case, probe: str, began: int) -> int:
    """Return the time from which a probe that must fail is owed nothing; 0 if it always must fail."""
    how = meant(case)[probe]
    return 0 if how.after is None and not how.fenced else began


def stopped(case: Case) -> dict[Process, int]:
    """Return the processes that stopped at a failure, as they are told to, with the time of the failure."""
    found: dict[Process, int] = {}
    if case.rows["failures"]:
        for row in read(case.events, "failures").to_pylist():
            if row["handling"] == "stop":
                process = (row["probe"], row["incarnation"])
                found[process] = min(row["at"], found.get(process, row["at"]))
    return found
