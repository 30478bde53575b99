"""Samples become changes: what the watcher saw five times a second from every broker, as the moments it changed.

Brokers do not learn of a change at the same time, and one that is cut off never does. So a view counts when it is
*new*: the state of a partition is the latest change that any broker reported, and a report with an older leader epoch
than one already seen is stale and ignored. A broker that keeps repeating an old view therefore says nothing.
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
"""Nanoseconds that a broker's word of itself stands without another answer of it."""


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """From ``at`` on (monotonic nanoseconds) the partition had this leader and this ISR, as far as anyone said."""

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
    """From ``began`` to ``ended`` a broker said of itself that it leads a partition, at one leader epoch."""

    broker: int
    place: Place
    epoch: int
    began: int
    ended: int


def claims(batches: Iterable[Frame]) -> tuple[Claim, ...]:
    """Who held itself to be a leader, and when, by time, from all columns of ``partitions``.

    A broker that does not say so for longer than ``HELD`` claims nothing meanwhile.
    """
    found: dict[tuple[int, Place, int], list[tuple[int, int]]] = {}
    for frame in batches:
        for claim in _claimed(frame):
            found.setdefault((claim.broker, claim.place, claim.epoch), []).append((claim.began, claim.ended))
    whole = (Claim(*who, *span) for who, spans in found.items() for span in _joined(spans))
    return tuple(sorted(whole, key=lambda claim: (claim.began, claim.place, claim.broker)))


def _claimed(frame: Frame) -> Iterator[Claim]:
    """The stretches of one batch."""
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
    """Spans by time, those that follow each other within ``HELD`` as one."""
    joined: list[tuple[int, int]] = []
    for span in sorted(spans):
        if joined and span[0] - joined[-1][1] <= HELD:
            joined[-1] = joined[-1][0], max(joined[-1][1], span[1])
        else:
            joined.append(span)
    return joined


def partition_changes(batches: Iterable[Frame]) -> tuple[PartitionChange, ...]:
    """The changes of every partition, by time, from all columns of ``partitions``."""
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
    """Of all brokers' changes, in time order, those that say something new."""
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
    """The rows of a batch at which one broker's view of one partition differs from its row before."""
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
    """One number for each list of broker ids, equal for equal sets; lists may be empty or missing."""
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
    """Positions at which any column differs from the position before; the first always does."""
    if columns.shape[1] == 0:
        return np.empty(0, dtype=np.int64)
    differs = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return np.flatnonzero(np.concatenate([[True], differs])).astype(np.int64)


def answering(batches: Iterable[Frame]) -> tuple[StateChange, ...]:
    """When each broker answered and when it did not, from asked, completed and error of ``brokers``."""
    rows: list[tuple[int, int, str]] = []
    for frame in batches:
        silent = frame.names("error")[1] >= 0
        states = np.where(silent, "silent", "answers")
        rows += zip(frame.ints("completed").tolist(), frame.ints("asked").tolist(), states.tolist(), strict=True)
    return state_changes(rows)


def controllers(batches: Iterable[Frame]) -> tuple[StateChange, ...]:
    """When the controller moved: each ``who`` is the controller from ``at`` on, from ``brokers``.

    A broker that just started knows no controller, and one that is cut off keeps naming the old one: only a broker
    whose own answer changed is believed, and only when it names one.
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
    """When each node changed its role, from node, at and mode of ``zookeepers`` or ``quorum``; empty if it has none."""
    rows: list[tuple[int, int, str]] = []
    for frame in batches:
        texts, codes = frame.names("mode")
        named = [texts[code] if code >= 0 else "" for code in codes.tolist()]
        rows += zip(frame.ints("at").tolist(), frame.ints("node").tolist(), named, strict=True)
    return state_changes(rows)


def state_changes(rows: Sequence[tuple[int, int, str]]) -> tuple[StateChange, ...]:
    """Of (moment, who, state), by time, those at which a state differs from the same one's state before."""
    last: dict[int, str] = {}
    changes: list[StateChange] = []
    for at, who, state in sorted(rows, key=itemgetter(0, 1)):
        if last.get(who) != state:
            changes.append(StateChange(at, who, state))
            last[who] = state
    return tuple(changes)
