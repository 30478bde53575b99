"""Changes of leadership, from the leaders' own answers and from records written under their epochs.

``frames.serving`` and ``checks.election`` do the same with Spark, and define the terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.glances.transacted import index_of
from chaosk.analysis.partition_history import SILENCE

MARGIN = 1_000_000_000
"""Nanoseconds by which the search for records extends beyond a change of leader, on either side."""
_ENDLESS = 2**62
_NONE = -1


def changes_of_leadership(rows: EventRows) -> list[dict[str, Any]]:
    """Return them by keys topic, partition, from_leader, to_leader (-1: none), epoch, began, ended, censored."""
    epochs, places = rows.column("partitions", "leader_epoch"), rows.places("partitions")
    several = np.unique(np.stack([places, epochs])[:, epochs != EMPTY], axis=1)[0]
    names, counts = np.unique(several, return_counts=True)
    log = _Log(rows)
    found = []
    for place in names[counts > 1].tolist():
        topic, partition = divmod(place, 1 << 20)
        name = {"topic": rows.word("topic", topic), "partition": partition}
        found += [name | change for change in _changes(rows, _Partition.of(rows, place), log)]
    return found


class _Sign(NamedTuple):
    """A record in the log that was acknowledged around a change of leader."""

    epoch: int
    invoked: int
    completed: int


@dataclass(frozen=True, slots=True)
class _Partition:
    """What brokers said of one partition."""

    place: int
    asked: Numbers
    leader: Numbers
    epoch: Numbers
    at: Numbers
    answers: tuple[tuple[int, int], ...]
    """Epoch and time of each answer that only a leader gives."""

    @classmethod
    def of(cls, rows: EventRows, place: int) -> _Partition:
        mine = np.flatnonzero(rows.places("partitions") == place)
        mine = mine[np.argsort(rows.column("partitions", "at")[mine], kind="stable")]
        asked, leader, epoch, at = (
            column[mine] for column in rows.columns("partitions", "asked", "leader", "leader_epoch", "at")
        )
        return cls(place, asked, leader, epoch, at, tuple(_answers(rows, place, asked, leader, epoch, at)))

    def named(self) -> dict[int, tuple[int, int]]:
        """Return by epoch, in order, the leader (-1: none) last named, and when the epoch was first named."""
        found = {}
        for epoch in np.unique(self.epoch[self.epoch != EMPTY]).tolist():
            mine = np.flatnonzero(self.epoch == epoch)
            having = mine[self.leader[mine] >= 0]
            found[epoch] = (int(self.leader[(having if having.size else mine)[-1]]), int(self.at[mine[0]]))
        return found

    def first_answer(self, epoch: int) -> int:
        return min((at for number, at in self.answers if number == epoch), default=_ENDLESS)

    def spans(self) -> dict[int, tuple[int, int]]:
        """Return by epoch, but for the first, the time in which its records matter."""
        found = {}
        for epoch, (_, named) in list(self.named().items())[1:]:
            high = self.first_answer(epoch)
            last = max((at for older, at in self.answers if older < epoch and at < high), default=named)
            found[epoch] = (min(named, last) - MARGIN, high)
        return found


def _answers(
    rows: EventRows, place: int, asked: Numbers, leader: Numbers, epoch: Numbers, at: Numbers
) -> Iterator[tuple[int, int]]:
    """Yield epoch and time of answers as a leader; see ``frames.serving.answers``."""
    own, high, end = rows.columns("offsets", "leader", "high_watermark", "log_end")
    serves = (rows.places("offsets") == place) & (own == 1) & ((high != EMPTY) | (end == EMPTY))
    broker, when = rows.column("offsets", "asked")[serves], rows.column("offsets", "at")[serves]
    for number in np.unique(broker).tolist():
        mine, others = asked == number, (leader == number) & (asked != number) & (epoch != EMPTY)
        times = when[broker == number]
        seen, told = (np.searchsorted(at[chosen], times, "right") - 1 for chosen in (mine, others))
        for time, view, other in zip(times.tolist(), seen.tolist(), told.tolist(), strict=True):
            if view >= 0:
                known = int(epoch[mine][view]) if leader[mine][view] == number else EMPTY
            else:
                known = int(epoch[others][other]) if other >= 0 else EMPTY
            if known != EMPTY:
                yield known, time


class _Log:
    """Records found in the log and acknowledged sends, read when first needed."""

    def __init__(self, rows: EventRows) -> None:
        self._rows = rows
        self._found: tuple[Numbers, Numbers, Numbers] | None = None

    def signs(self, partition: _Partition, spans: list[tuple[int, int]]) -> list[_Sign]:
        """Return the records of a partition that were acknowledged in one of the time spans, by epoch in the log."""
        rows, sent = self._rows, self._acknowledged(partition.place)
        invoked, completed = rows.columns("sends", "invoked", "completed")
        near = np.zeros(len(sent), np.bool_)
        for low, high in spans:
            near |= (completed[sent] >= low) & (invoked[sent] <= high)
        sent = sent[near]
        sent = sent[np.argsort(rows.values("sends")[sent])]
        values, epochs = self._in_log(partition.place)
        match = index_of(rows.values("sends")[sent], values)
        known = np.flatnonzero(match != EMPTY)
        pairs = np.unique(np.stack([match[known], epochs[known]]), axis=1)
        times = (pairs[1], invoked[sent[pairs[0]]], completed[sent[pairs[0]]])
        return [_Sign(*row) for row in zip(*(column.tolist() for column in times), strict=True)]

    def delivered(self, partition: _Partition, epoch: int, high: int) -> int:
        """Return the first delivery of an epoch's records until ``high``."""
        rows = self._rows
        mine = (rows.places("reads") == partition.place) & (rows.column("reads", "leader_epoch") == epoch)
        at = rows.column("reads", "at")[mine]
        return int(at[at <= high].min(initial=_ENDLESS))

    def _acknowledged(self, place: int) -> NDArray[np.intp]:
        rows = self._rows
        ok = rows.column("sends", "outcome") == rows.code("outcome", "ok")
        ok &= (rows.column("sends", "completed") != EMPTY) & (rows.values("sends") != EMPTY)
        return np.flatnonzero(ok & (rows.places("sends") == place))

    def _in_log(self, place: int) -> tuple[Numbers, Numbers]:
        rows = self._rows
        if self._found is None:
            values, places, epochs = [], [], []
            for table in ("audit", "reads"):
                known = (rows.column(table, "intact") == 1) & (rows.column(table, "leader_epoch") >= 0)
                values.append(rows.values(table)[known])
                places.append(rows.places(table)[known])
                epochs.append(rows.column(table, "leader_epoch")[known])
            self._found = np.concatenate(values), np.concatenate(places), np.concatenate(epochs)
        values_, places_, epochs_ = self._found
        return values_[places_ == place], epochs_[places_ == place]


def _changes(rows: EventRows, partition: _Partition, log: _Log) -> Iterator[dict[str, Any]]:
    named, spans = partition.named(), partition.spans()
    signs = log.signs(partition, list(spans.values()))
    watched = set(np.unique(rows.column("brokers", "asked")).tolist())
    served: list[tuple[int, int, int]] = []
    for epoch, (leader, first_named) in named.items():
        since = min((sign.completed for sign in signs if sign.epoch == epoch), default=_ENDLESS)
        since = min(since, partition.first_answer(epoch))
        if epoch in spans:
            since = min(since, log.delivered(partition, epoch, spans[epoch][1]))
        if since == _ENDLESS and leader not in watched:
            since = first_named
        if leader >= 0 and since != _ENDLESS:
            served.append((epoch, leader, since))
    for (old, before, _), (new, after, until) in pairwise(served):
        last = _last_sign(partition, signs, old, until)
        if until >= last:
            yield _row(before, after, new, last, until, censored=False)
    ended = rows.case.run.ended
    if served and (newest := max(named)) > served[-1][0] and int(partition.at[-1]) >= ended - SILENCE:
        last = _last_sign(partition, signs, served[-1][0], ended)
        if ended - last >= SILENCE:
            yield _row(served[-1][1], _NONE, newest, last, ended, censored=True)


def _last_sign(partition: _Partition, signs: list[_Sign], epoch: int, until: int) -> int:
    """Return the latest sign before ``until`` that this epoch's leader served; else when it was last named."""
    mine = [at for number, at in partition.answers if number == epoch and at < until]
    mine += [sign.invoked for sign in signs if sign.epoch == epoch and sign.invoked < until]
    if mine:
        return max(mine)
    said = partition.at[(partition.epoch == epoch) & (partition.at < until)]
    return int(said.max()) if said.size else until


def _row(before: int, after: int, epoch: int, began: int, ended: int, *, censored: bool) -> dict[str, Any]:
    return {
        "from_leader": before, "to_leader": after, "epoch": epoch, "began": began, "ended": ended,
        "seconds": (ended - began) / 1e9, "censored": censored,
    }  # fmt: skip
