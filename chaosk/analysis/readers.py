"""The readers of a run and what each is owed: whole topics, whether or not it was ever given all of them.

A reader is a consumer group, or a probe that reads without one. What it is owed follows from the plan, not from what
it happened to be given: a partition that no member ever had is owed as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.parquet as pq

from chaosk.analysis.case import Case
from chaosk.analysis.completeness import gone
from chaosk.analysis.failing import failing, meant

_KINDS = ("consume", "transform")
_LATEST = frozenset({"latest", "largest", "end"})
_SESSION = 45_000
"""Milliseconds of ``session.timeout.ms`` where nothing is set: librdkafka's."""
_POLLS = 300_000
"""The same of ``max.poll.interval.ms``."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader."""

    name: str
    """The group, or the probe without one."""
    topic: str
    """A topic that it reads."""
    partitions: frozenset[int] | None
    """Those that it chose itself; None for all."""
    latest: bool
    """Whether it, or any of its members, begins at the end of a partition of which it finds no committed offset."""
    mixed: bool
    """Whether its members differ in that, so that nobody knows of a position that no member told."""
    start: str
    """Where it begins what it is given for the first time: ``committed``, ``beginning`` or ``end``."""
    alone: bool
    """Whether it has no group, so that nothing is committed for it."""
    patience: int
    """Nanoseconds for which no member may hold a partition: until a lost one is noticed, and all have joined again."""
    dismissed: str | None
    """Why it is owed nothing in the end: the scenario ended it, or its application stopped. None if neither."""
    dismissed_at: int | None
    """From when on it is owed nothing then: when the last of its processes was gone, or was to fail."""


def readers(case: Case) -> tuple[Reader, ...]:
    """Every reader by topic, in the order of names: of the topics that it is to read, and of those it was given any."""
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


def owed(case: Case) -> dict[str, frozenset[str]]:
    """By reader the topics that it is owed."""
    found: dict[str, set[str]] = {}
    for reader in readers(case):
        found.setdefault(reader.name, set()).add(reader.topic)
    return {name: frozenset(topics) for name, topics in found.items()}


def at_the_end(case: Case) -> frozenset[str]:
    """The probes that begin at the end of a partition of which they find no committed offset."""
    found = ((name, probe[kind]) for name, probe in case.plan.probes.items() for kind in _KINDS if probe.get(kind))
    return frozenset(
        name for name, reading in found if reading.get("start") == "end" or _resets_to_end(reading.get("config") or {})
    )


def _resets_to_end(config: dict[str, Any]) -> bool:
    return str(config.get("auto.offset.reset", "earliest")) in _LATEST


def _reader(case: Case, name: str, topic: str, members: list[dict[str, Any]]) -> Reader:
    chosen = [one.get("assign") for one in members]
    config = [one.get("config") or {} for one in members]
    session = max(int(one.get("session.timeout.ms", _SESSION)) for one in config)
    polls = max(int(one.get("max.poll.interval.ms", _POLLS)) for one in config)
    dismissed, dismissed_at = _dismissed(case, {str(one["probe"]) for one in members})
    start = next((str(one["start"]) for one in members if one.get("start")), "committed")
    return Reader(
        name=name,
        topic=topic,
        partitions=frozenset(number for each in chosen for number in each or ()) if all(map(_listed, chosen)) else None,
        latest=start == "end" or any(map(_resets_to_end, config)),
        mixed=start != "end" and any(map(_resets_to_end, config)) and not all(map(_resets_to_end, config)),
        start=start,
        alone=all(one.get("group") is None for one in members),
        patience=(session + polls) * 1_000_000,
        dismissed=dismissed,
        dismissed_at=dismissed_at,
    )


def _listed(assign: object) -> bool:
    return isinstance(assign, list | tuple)


def _dismissed(case: Case, probes: set[str]) -> tuple[str | None, int | None]:
    """Why none of these probes is at work in the end, if that was meant, and since when."""
    workers = {(worker.probe, worker.incarnation): worker for worker in case.workers if worker.probe in probes}
    mine = set(workers)
    over = max((gone(case, worker) for worker in workers.values()), default=None)
    by_step = {(end.probe, end.incarnation) for end in case.record.probes if end.ended_by == "step"}
    if mine and mine <= by_step:
        return "a step of the scenario had ended the reader", over
    if mine and mine <= by_step | set(_stopped(case)):
        return "the application had stopped at a record that it failed to process, as it is told to", over
    to_fail = {probe: span for probe, span in failing(case).items() if span.ended >= case.run.ended}
    if mine and {process for process in mine - by_step if process[0] not in to_fail} == set():
        since = [_to_fail_since(case, name, to_fail[name].began) for name, _ in mine - by_step]
        ended = [gone(case, workers[process]) for process in mine & by_step]
        return "the scenario says that the reader must fail", max([*since, *ended])
    return None, None


def _to_fail_since(case: Case, probe: str, began: int) -> int:
    """From when on a probe that is to fail is owed nothing: one that always is never was owed anything."""
    how = meant(case)[probe]
    return 0 if how.after is None and not how.fenced else began


def _stopped(case: Case) -> Iterator[tuple[str, int]]:
    """Processes that stopped at a failure."""
    if case.rows["failures"]:
        for row in pq.read_table(case.events / "failures.parquet").to_pylist():
            if row["handling"] == "stop":
                yield row["probe"], row["incarnation"]
