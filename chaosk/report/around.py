"""Context of the probes' traffic, read from the event tables: changes of the cluster, errors, rebalances."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chaosk.report import changes, lanes
from chaosk.report.axis import Axis, Longs
from chaosk.report.happenings import ClientError, Surroundings
from chaosk.report.members import Members, absences, holdings, limits
from chaosk.report.panels import ErrorRow
from chaosk.report.source import Source
from chaosk.report.tables import NONE, frames

MOST_ERRORS = 12
"""Rows of the errors' panel, for the most frequent names."""

_PARTITIONS = ("at", "asked", "topic", "partition", "leader", "leader_epoch", "replicas", "isr")
_COORDINATOR = re.compile(r"(?<![a-z_])coordinator\(\s*([^()\s]+)\s*\)")
_Counts = dict[tuple[str, str], Longs]


def surroundings(source: Source, axis: Axis) -> Surroundings:
    """Read all possible explanations of a stall; unreadable tables give empty parts and a note."""
    run, tolerate = source.run, source.tolerate
    return Surroundings(
        axis=axis,
        faults=source.verdict.faults,
        partitions=tolerate(lambda: changes.partition_changes(frames(run, "partitions", *_PARTITIONS))) or (),
        controllers=tolerate(lambda: changes.controllers(frames(run, "brokers", "asked", "completed", "controller")))
        or (),
        brokers=tolerate(lambda: changes.answering(frames(run, "brokers", "asked", "completed", "error"))) or (),
        zookeepers=tolerate(lambda: changes.modes(frames(run, "zookeepers", "node", "at", "mode"))) or (),
        quorum=tolerate(lambda: changes.modes(frames(run, "quorum", "node", "at", "mode"))) or (),
        errors=tolerate(lambda: _client_errors(source)) or (),
        rebalances=tolerate(lambda: _rebalances(source)) or (),
        members=tolerate(lambda: _members(source)) or {},
        memberships=tolerate(lambda: _memberships(source, axis)) or Members(),
        claims=tolerate(lambda: changes.claims(frames(run, "partitions", *_PARTITIONS))) or (),
    )


def rows(source: Source, table: str, *columns: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a small table."""
    for frame in frames(source.run, table, *columns):
        yield from frame.batch.to_pylist()


def _client_errors(source: Source) -> tuple[ClientError, ...]:
    """Return errors reported outside of calls, errors of polls, and failed commits."""
    found = [ClientError(**row) for row in rows(source, "errors", "at", "probe", "error", "message")]
    for table, what in (("polls", "a poll came back with it"), ("commits", "a commit came back with it")):
        for frame in frames(source.run, table, "completed", "probe", "error"):
            failed = frame.where((frame.names("error")[1] != NONE) & (frame.ints("completed") != NONE))
            found += [ClientError(r["completed"], r["probe"], r["error"], what) for r in failed.batch.to_pylist()]
    return tuple(sorted(found, key=lambda error: (error.at, error.probe, error.error)))


def _rebalances(source: Source) -> tuple[tuple[int, str, str], ...]:
    """Return assignments as moments: all changes of one probe's assignment in one call count as one."""
    return tuple(sorted({(r["at"], r["probe"], r["kind"]) for r in rows(source, "assignments", "at", "probe", "kind")}))


def _members(source: Source) -> dict[str, frozenset[str]]:
    """Map each group to its probes."""
    found: dict[str, frozenset[str]] = {}
    for row in rows(source, "incarnations", "probe", "group"):
        if row["group"]:
            found[row["group"]] = found.get(row["group"], frozenset()) | {row["probe"]}
    return found


def _memberships(source: Source, axis: Axis) -> Members:
    away = absences(source.verdict.faults, axis.high)
    columns = ("at", "probe", "incarnation", "kind", "topic", "partition")
    scenario = source.plan.get("scenario")
    told = scenario if isinstance(scenario, Mapping) else {}
    probes, timeline = told.get("probes"), told.get("timeline")
    return Members(
        holdings=holdings(rows(source, "assignments", *columns), away, axis.high),
        absences=away,
        limits=limits(probes if isinstance(probes, Mapping) else {}),
        aimed_at=_aimed_at(timeline if isinstance(timeline, list) else ()),
    )


def _aimed_at(timeline: Sequence[object]) -> dict[str, tuple[str, ...]]:
    """Map each group to the timeline entries with ``coordinator(GROUP)`` among their targets."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in timeline:
        name = entry.get("name") if isinstance(entry, Mapping) else None
        for group in set(_COORDINATOR.findall(json.dumps(entry))) if name else ():
            found[group] = (*found.get(group, ()), str(name))
    return found


def server_lanes(around: Surroundings) -> tuple[lanes.StateLane, ...]:
    """Return the lanes of brokers, ZooKeeper and controllers, if there is data about them."""
    every = (
        lanes.broker_lane(around.brokers, around.controllers, around.axis),
        lanes.mode_lane("ZooKeeper", around.zookeepers, around.axis),
        lanes.mode_lane("controllers", around.quorum, around.axis),
    )
    return tuple(lane for lane in every if lane is not None)


def error_rows(source: Source, around: Surroundings) -> tuple[ErrorRow, ...]:
    """Count errors by probe and name over time: those of sends, and those reported outside of calls."""
    counts = _reported(around.errors, around.axis)
    for key, failed in (source.tolerate(lambda: _failed_sends(source, around.axis)) or {}).items():
        counts[key] = counts[key] + failed if key in counts else failed
    most = sorted(counts, key=lambda key: (-int(counts[key].sum()), key))[:MOST_ERRORS]
    return tuple(ErrorRow(f"{probe} {name}", counts[probe, name]) for probe, name in sorted(most))


def _reported(errors: Sequence[ClientError], axis: Axis) -> _Counts:
    times: dict[tuple[str, str], list[int]] = {}
    for error in errors:
        times.setdefault((error.probe, error.error), []).append(error.at)
    return {key: axis.count(np.array(at, dtype=np.int64)) for key, at in times.items()}


def _failed_sends(source: Source, axis: Axis) -> _Counts:
    counts: _Counts = {}
    for frame in frames(source.run, "sends", "probe", "error", "completed"):
        failed = frame.where(frame.names("error")[1] != NONE)
        completed = failed.ints("completed")
        for probe, mine in failed.masks("probe") if len(failed) else ():
            for error, here in failed.where(mine).masks("error"):
                none = np.zeros(axis.buckets, dtype=np.int64)
                counts[probe, error] = counts.get((probe, error), none) + axis.count(completed[mine][here])
    return counts
