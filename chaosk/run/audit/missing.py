"""What every replica is asked about: places of records that the audit did not find, or all that it read.

From the live events of a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from chaosk.rundir.events.store import chunks, read
from chaosk.rundir.paths import RunDir

_Process = tuple[str, int]
_Place = tuple[str, int]
_Mask = NDArray[np.bool_]
_ALL = "read_uncommitted"
_NEVER = np.iinfo(np.int64).max
_SENT = ("probe", "incarnation", "seq")
_READ = ("producer", "producer_incarnation", "seq")


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """Offsets of one partition, from the first to the last that something is missing at."""

    topic: str
    partition: int
    first: int
    last: int


def missing(rundir: RunDir, topics: Collection[str]) -> tuple[Stretch, ...]:
    """By partition of ``topics`` the offsets of records that somebody knows of and the audit did not find there.

    Those that were acknowledged or delivered at a known offset, and that an audit of everything, committed or not, did
    not find in any partition. What was acknowledged or delivered before its topic was made again went with the old one,
    and what lies below the log's start was deleted and is not missing, and of a partition that
    was not read whole nobody knows. For every record of the run it takes a byte of memory. Raises EventLogError where
    the events cannot be read.
    """
    seen = _Seen()
    for batch in chunks(rundir, "audit"):
        seen.add(batch.filter(pc.and_(batch["intact"], pc.equal(batch["isolation"], pa.scalar(_ALL)))))
    starts = _starts(rundir)
    found: dict[_Place, tuple[int, int]] = {}
    for batch in _known(rundir, topics, _made(rundir)):
        for place, first, last in _extents(batch.filter(pa.array(~seen.holds(batch))), starts):
            low, high = found.get(place, (first, last))
            found[place] = (min(low, first), max(high, last))
    return tuple(sorted(Stretch(*place, *extent) for place, extent in found.items()))


def whole(rundir: RunDir, topics: Collection[str]) -> tuple[Stretch, ...]:
    """By partition of ``topics`` that the audit read whole all its offsets; none of one that holds nothing.

    Raises EventLogError where the events cannot be read.
    """
    rows = read(rundir, "audit_ranges").to_pylist()
    told = [row for row in rows if row["complete"] and row["isolation"] == _ALL and row["topic"] in topics]
    return tuple(
        sorted(
            Stretch(row["topic"], row["partition"], row["log_start"], row["end"] - 1)
            for row in told
            if row["end"] > row["log_start"]
        )
    )


def joined(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """One stretch for each partition, from the first offset of any to the last."""
    found: dict[_Place, Stretch] = {}
    for one in stretches:
        place = (one.topic, one.partition)
        old = found.get(place, one)
        found[place] = Stretch(*place, min(old.first, one.first), max(old.last, one.last))
    return tuple(sorted(found.values()))


class _Seen:
    """The records that were found, by the process that wrote them."""

    def __init__(self) -> None:
        self._of: dict[_Process, _Mask] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Remember the records of a batch."""
        for process, rows in _by_process(batch):
            seqs = batch["seq"].to_numpy(zero_copy_only=False)[rows]
            known = self._of.get(process, np.zeros(0, np.bool_))
            if seqs.max() >= len(known):
                known = np.concatenate([known, np.zeros(max(int(seqs.max()) + 1 - len(known), len(known)), np.bool_)])
            known[seqs] = True
            self._of[process] = known

    def holds(self, batch: pa.RecordBatch) -> _Mask:
        """By row of a batch whether its record was found."""
        held = np.zeros(batch.num_rows, np.bool_)
        for process, rows in _by_process(batch):
            known = self._of.get(process, np.zeros(0, np.bool_))
            seqs = batch["seq"].to_numpy(zero_copy_only=False)[rows]
            inside = seqs < len(known)
            held[np.flatnonzero(rows)[inside]] = known[seqs[inside]]
        return held


def _made(rundir: RunDir) -> dict[str, int]:
    """By topic that was made again when that was, the last time."""
    found: dict[str, int] = {}
    for row in read(rundir, "remakings").to_pylist():
        found[row["topic"]] = max(row["made"], found.get(row["topic"], 0))
    return found


def _known(rundir: RunDir, topics: Collection[str], made: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """Records with the place that somebody was told, by columns of one name."""
    names = ["producer", "producer_incarnation", "seq", "topic", "partition", "offset"]
    ours = pa.array(sorted(topics), pa.string())
    sources = (
        ("sends", _SENT, "outcome", pa.scalar("ok"), "completed"),
        ("reads", _READ, "intact", pa.scalar(True), "at"),  # noqa: FBT003
    )
    for table, value, name, fine, when in sources:
        for batch in chunks(rundir, table):
            placed = pc.and_(pc.is_valid(batch["offset"]), pc.is_valid(batch["partition"]))
            told = pc.and_(placed, pc.equal(batch[name], fine))
            for topic, moment in made.items():
                before = pc.and_(pc.equal(batch["topic"], pa.scalar(topic)), pc.less(batch[when], pa.scalar(moment)))
                told = pc.and_not(told, before)
            kept = batch.filter(pc.and_(told, pc.is_in(batch["topic"], ours)))
            yield kept.select([*value, "topic", "partition", "offset"]).rename_columns(names)


def _by_process(batch: pa.RecordBatch) -> Iterator[tuple[_Process, _Mask]]:
    """The processes that wrote the records of a batch, and by row whether it is one of theirs."""
    names = batch["producer"].dictionary_encode()
    codes = names.indices.to_numpy(zero_copy_only=False)
    incarnations = batch["producer_incarnation"].to_numpy(zero_copy_only=False)
    for code in np.unique(codes).tolist():
        for incarnation in np.unique(incarnations[codes == code]).tolist():
            yield (names.dictionary[code].as_py(), incarnation), (codes == code) & (incarnations == incarnation)


def _starts(rundir: RunDir) -> dict[_Place, int]:
    """Where the log of each partition that was read whole begins."""
    rows = read(rundir, "audit_ranges").to_pylist()
    whole = [row for row in rows if row["complete"] and row["isolation"] == _ALL]
    return {(row["topic"], row["partition"]): row["log_start"] for row in whole}


def _extents(batch: pa.RecordBatch, starts: dict[_Place, int]) -> Iterator[tuple[_Place, int, int]]:
    """By partition the lowest and the highest offset of a batch's rows that are not below the log's start."""
    offsets = batch["offset"].to_numpy(zero_copy_only=False)
    by_place: dict[_Place, list[int]] = {}
    for number, row in enumerate(batch.select(["topic", "partition"]).to_pylist()):
        place = (row["topic"], row["partition"])
        if offsets[number] >= starts.get(place, _NEVER):
            by_place.setdefault(place, []).append(int(offsets[number]))
    for place, some in by_place.items():
        yield place, min(some), max(some)
