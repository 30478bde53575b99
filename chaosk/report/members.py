"""Members of consumer groups: the partitions of each over time, and times in which its process could not work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chaosk.report.changes import Place
from chaosk.rundir.verdict import Fault

SESSION = 45.0
"""Default session time-out in seconds, of the clients, and of brokers for KIP-848."""
MAX_POLL = 300.0
"""Default ``max.poll.interval.ms`` in seconds."""
_HOW = {"kill_probe": "killed", "stop_probe": "stopped", "pause_probe": "frozen"}


@dataclass(frozen=True, slots=True)
class AssignmentSpan:
    """A member's assignment of a partition from one moment to another, monotonic nanoseconds."""

    probe: str
    place: Place
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Absence:
    """A period in which a member's process could not work."""

    probe: str
    how: str
    """``killed``, ``stopped`` or ``frozen``."""
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs of a member in its group, in seconds."""

    session: float = SESSION
    max_poll: float = MAX_POLL


@dataclass(frozen=True, slots=True)
class Members:
    """All data about members."""

    holdings: tuple[AssignmentSpan, ...] = ()
    absences: tuple[Absence, ...] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict)
    """By probe."""
    aimed_at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the faults that targeted a group's coordinator, by group."""


def holdings(rows: Iterable[Mapping[str, Any]], away: Sequence[Absence], end: int) -> tuple[AssignmentSpan, ...]:
    """Return assignment periods from rows of ``assignments``: until revoked, the process stops, or ``end``."""
    found: list[AssignmentSpan] = []
    held: dict[tuple[str, int, Place], int] = {}
    for row in sorted(rows, key=lambda row: (row["at"], row["kind"] == "assign")):
        key = (str(row["probe"]), int(row["incarnation"]), (str(row["topic"]), int(row["partition"])))
        if row["kind"] == "assign":
            held.setdefault(key, int(row["at"]))
        elif key in held:
            found.append(AssignmentSpan(key[0], key[2], held.pop(key), int(row["at"])))
    found += [AssignmentSpan(probe, place, began, end) for (probe, _, place), began in held.items()]
    return tuple(sorted((_until_gone(one, away) for one in found), key=lambda one: (one.began, one.probe, one.place)))


def _until_gone(one: AssignmentSpan, away: Sequence[Absence]) -> AssignmentSpan:
    gone = [a.began for a in away if a.probe == one.probe and one.began <= a.began < one.ended]
    return replace(one, ended=min([one.ended, *gone]))


def absences(faults: Iterable[Fault], end: int) -> tuple[Absence, ...]:
    """Return absences from timeline entries that killed, stopped or paused probes; without an undo until ``end``."""
    return tuple(
        Absence(name.removeprefix("probe "), _HOW[fault.step], fault.invoked, fault.healed or end)
        for fault in faults
        if fault.step in _HOW and fault.took
        for name in fault.targets.split(", ")
    )


def limits(probes: Mapping[str, Any]) -> dict[str, Limits]:
    """Return the time-outs by probe, from the scenario in the plan."""
    found = {}
    for probe, kind in probes.items():
        consume = kind.get("consume") or kind.get("transform") if isinstance(kind, Mapping) else None
        config = consume.get("config") if isinstance(consume, Mapping) else None
        settings = config if isinstance(config, Mapping) else {}
        found[str(probe)] = Limits(
            _seconds(settings.get("session.timeout.ms"), SESSION),
            _seconds(settings.get("max.poll.interval.ms"), MAX_POLL),
        )
    return found


def _seconds(milliseconds: object, otherwise: float) -> float:
    try:
        return float(str(milliseconds)) / 1000
    except ValueError:
        return otherwise
