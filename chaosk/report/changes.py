"""Changes of state, derived from the watcher's samples of every broker (five per second).

Brokers learn of a change at different times, and one that is cut off never does. Therefore only *new* views count: the
state of a partition is the latest change that any broker reported, and a report with an older leader epoch than a known
one is stale and ignored. A broker that keeps repeating an old view has no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chaosk.report.axis import Longs
from chaosk.report.tables import Frame

Place = tuple[str, int]
"""Topic and partition."""
HELD = 1_000_000_000
"""Nanoseconds for which a broker's claim about itself stays valid without another answer."""


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """Start of a reported state at ``at`` (monotonic nanoseconds): the partition's leader and ISR."""

    at: int
    topic: str
    partition: int
    leader: int
    epoch: int
    isr: frozenset[int]
    replicas: tuple[int, ...]

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, self.partition


@dataclass(frozen=True, slots=True)
class StateChange:
    """From ``at`` on, the node or broker ``who`` was in ``state``."""

    at: int
    who: int
    state: str


@dataclass(frozen=True, slots=True)
class Claim:
    """From ``began`` to ``ended`` a broker claimed to lead a partition, at one leader epoch."""

    broker: int
    place: Place
    epoch: int
    began: int
    ended: int


def claims(batches: Iterable[Frame]) -> tuple[Claim, ...]:
    """Return the brokers' claims of leadership by time, from all columns of ``partitions``.

    A claim ends if the broker does not repeat it within ``HELD``.
    """
    found: dict[tuple[int, Place, int], list[tuple[int, int]]] = {}
    for frame in batches:
        for claim in _claimed(frame):
            found.setdefault((claim.broker, claim.place, claim.epoch), []).append((claim.began, claim.ended))
    whole = (Claim(*who, *span) for who, spans in found.items() for span in _joined(spans))
    return tuple(sorted(whole, key=lambda claim: (claim.began, claim.place, claim.broker)))


def _claimed(frame: Frame) -> Iterator[Claim]:
    """Yield the claims within one batch."""
    own = frame.where((frame.ints("asked") == frame.ints("leader")) & (frame.ints("leader_epoch") >= 0))
    topics, topic = own.names("topic")
    who = np.stack([own.ints("asked"), topic, own.ints("partition"), own.ints("leader_epoch")])
    at = own.ints("at")
    order = np.lexsort((at, *who[::-1]))
    who, at = who[:, order], at[order]
    new = np.append(True, (np.diff(who) != 0).any(axis=0) | (np.diff(at) > HELD))[: at.size]
    firsts = np.flatnonzero(new)
    lasts = np.append(firsts[1:], at.size) - 1
    for first, last in zip(firsts.tolist(), lasts[: firsts.size].tolist(), strict=True):
        broker, name, partition, epoch = who[:, first].tolist()
        yield Claim(broker, (topics[name], partition), epoch, int(at[first]), int(at[last]))


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that follow each other within ``HELD``; returned by time."""
    joined: list[tuple[int, int]] = []
    for span in sorted(spans):
        if joined and span[0] - joined[-1][1] <= HELD:
            joined[-1] = joined[-1][0], max(joined[-1][1], span[1])
        else:
            joined.append(span)
    return joined


def partition_changes(batches: Iterable[Frame]) -> tuple[PartitionChange, ...]:
    """Return the changes of every partition by time, from all columns of ``partitions``."""
    seen: list[tuple[PartitionChange, int]] = []
    last: dict[tuple[int, Place], tuple[int, int, frozenset[int]]] = {}
    for frame in batches:
        for change, asked in _reports(frame):
            view = (change.leader, change.epoch, change.isr)
            if last.get((asked, change.place)) != view:
                last[asked, change.place] = view
                seen.append((change, asked))
    return tuple(_newest(change for change, _ in sorted(seen, key=lambda pair: pair[0].at)))


def _newest(reports: Iterable[PartitionChange]) -> Iterator[PartitionChange]:
    """Yield the changes with a new view, from all brokers' changes in time order."""
    current: dict[Place, PartitionChange] = {}
    for report in reports:
        known = current.get(report.place)
        if known is not None:
            same = (known.leader, known.epoch, known.isr) == (report.leader, report.epoch, report.isr)
            if same or report.epoch < known.epoch:
                continue
        current[report.place] = report
        yield report


def _reports(frame: Frame) -> Iterator[tuple[PartitionChange, int]]:
    """Yield the rows of a batch in which a broker's view of a partition differs from its previous row."""
    at, asked, partition = frame.ints("at"), frame.ints("asked"), frame.ints("partition")
    leader, epoch = frame.ints("leader"), frame.ints("leader_epoch")
    topics, topic = frame.names("topic")
    isr, replicas = frame.batch.column("isr"), frame.batch.column("replicas")
    views = np.stack([leader, epoch, _digest(isr)])
    order = np.lexsort((at, partition, topic, asked))
    new = _first_of_runs(np.vstack([np.stack([asked, topic, partition]), views])[:, order])
    for row in order[new]:
        yield (
            PartitionChange(
                at=int(at[row]),
                topic=topics[topic[row]],
                partition=int(partition[row]),
                leader=int(leader[row]),
                epoch=int(epoch[row]),
                isr=frozenset(isr[int(row)].as_py() or ()),
                replicas=tuple(replicas[int(row)].as_py() or ()),
            ),
            int(asked[row]),
        )


def _digest(lists: pa.Array[Any]) -> Longs:
    """Return a hash of each list of broker ids, equal for equal sets; lists may be empty or missing."""
    sized = pc.fill_null(pc.list_value_length(lists), 0)
    lengths = np.asarray(sized.to_numpy(zero_copy_only=False), dtype=np.int64)
    ids = np.asarray(pc.list_flatten(lists).to_numpy(zero_copy_only=False)).astype(np.uint64)
    # a sum of well-mixed numbers: a broker's id times an odd constant, its high bits folded down, then cubed
    mixed = (ids + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed * mixed * mixed)])
    last = np.cumsum(lengths)
    return np.asarray((ends[last] - ends[last - lengths]).view(np.int64))


def _first_of_runs(columns: Longs) -> Longs:
    """Return the positions that differ from their predecessor in any column; the first one always counts."""
    if columns.shape[1] == 0:
        return np.empty(0, dtype=np.int64)
    differs = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return np.flatnonzero(np.concatenate([[True], differs])).astype(np.int64)


def answering(batches: Iterable[Frame]) -> tuple[StateChange, ...]:
    """Return the changes between answering and silent brokers, from asked, completed and error of ``brokers``."""
    rows: list[tuple[int, int, str]] = []
    for frame in batches:
        silent = frame.names("error")[1] >= 0
        states = np.where(silent, "silent", "answers")
        rows += zip(frame.ints("completed").tolist(), frame.ints("asked").tolist(), states.tolist(), strict=True)
    return state_changes(rows)


def controllers(batches: Iterable[Frame]) -> tuple[StateChange, ...]:
    """Return the moves of the controller, which is ``who`` from ``at`` on, from ``brokers``.

    A broker that just started knows no controller, and one that is cut off keeps naming the old one. Therefore only a
    changed answer that names a controller counts.
    """
    rows: list[tuple[int, int, int]] = []
    for frame in batches:
        named = frame.ints("controller")
        columns = (frame.ints("completed"), frame.ints("asked"), named)
        rows += zip(*(column[named >= 0].tolist() for column in columns), strict=True)
    last: dict[int, int] = {}
    changes: list[StateChange] = []
    for at, asked, named_by in sorted(rows):
        if last.get(asked) != named_by and (not changes or changes[-1].who != named_by):
            changes.append(StateChange(at, named_by, "controller"))
        last[asked] = named_by
    return tuple(changes)


def modes(batches: Iterable[Frame]) -> tuple[StateChange, ...]:
    """Return each node's changes of role, from node, at and mode of ``zookeepers`` or ``quorum``; "" without a role."""
    rows: list[tuple[int, int, str]] = []
    for frame in batches:
        texts, codes = frame.names("mode")
        named = [texts[code] if code >= 0 else "" for code in codes.tolist()]
        rows += zip(frame.ints("at").tolist(), frame.ints("node").tolist(), named, strict=True)
    return state_changes(rows)


def state_changes(rows: Sequence[tuple[int, int, str]]) -> tuple[StateChange, ...]:
    """Return the changes of state by time, from (moment, who, state)."""
    last: dict[int, str] = {}
    changes: list[StateChange] = []
    for at, who, state in sorted(rows, key=itemgetter(0, 1)):
        if last.get(who) != state:
            changes.append(StateChange(at, who, state))
            last[who] = state
    return tuple(changes)
