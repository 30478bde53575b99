"""The offsets to compare on all replicas: those of records that the audit did not find, or all that it read.

Computed from the live events of a run.
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
class MissingOffsets:
    """A range of offsets of one partition, from the first to the last missing one."""

    topic: str
    partition: int
    first: int
    last: int


def missing(rundir: RunDir, topics: Collection[str]) -> tuple[MissingOffsets, ...]:
    """Return, by partition of ``topics``, the offsets of known records that the audit did not find there.

    Known records are those acknowledged or delivered at a known offset. A record is found if the audit at
    read_uncommitted has it in any partition. Records acknowledged or delivered before their topic was recreated
    belonged to the old one. Records below the log's start were deleted and are not missing. A partition that was not
    read completely is left out. Takes a byte of memory per record of the run. Raises EventLogError if the events cannot
    be read.
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
    return tuple(sorted(MissingOffsets(*place, *extent) for place, extent in found.items()))


def whole(rundir: RunDir, topics: Collection[str]) -> tuple[MissingOffsets, ...]:
    """Return all offsets of each partition of ``topics`` that the audit read completely; none for an empty partition.

    Raises EventLogError if the events cannot be read.
    """
    rows = read(rundir, "audit_ranges").to_pylist()
    told = [row for row in rows if row["complete"] and row["isolation"] == _ALL and row["topic"] in topics]
    return tuple(
        sorted(
            MissingOffsets(row["topic"], row["partition"], row["log_start"], row["end"] - 1)
            for row in told
            if row["end"] > row["log_start"]
        )
    )


def joined(stretches: Iterable[MissingOffsets]) -> tuple[MissingOffsets, ...]:
    """Return one stretch for each partition, from its lowest offset to its highest."""
    found: dict[_Place, MissingOffsets] = {}
    for one in stretches:
        place = (one.topic, one.partition)
        old = found.get(place, one)
        found[place] = MissingOffsets(*place, min(old.first, one.first), max(old.last, one.last))
    return tuple(sorted(found.values()))


class _Seen:
    """The records that the audit found, by the process that wrote them."""

    def __init__(self) -> None:
        self._of: dict[_Process, _Mask] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the records of a batch."""
        for process, rows in _by_process(batch):
            seqs = batch["seq"].to_numpy(zero_copy_only=False)[rows]
            known = self._of.get(process, np.zeros(0, np.bool_))
            if seqs.max() >= len(known):
                known = np.concatenate([known, np.zeros(max(int(seqs.max()) + 1 - len(known), len(known)), np.bool_)])
            known[seqs] = True
            self._of[process] = known

    def holds(self, batch: pa.RecordBatch) -> _Mask:
        """Return a mask of the batch's rows with records that were found."""
        held = np.zeros(batch.num_rows, np.bool_)
        for process, rows in _by_process(batch):
            known = self._of.get(process, np.zeros(0, np.bool_))
            seqs = batch["seq"].to_numpy(zero_copy_only=False)[rows]
            inside = seqs < len(known)
            held[np.flatnonzero(rows)[inside]] = known[seqs[inside]]
        return held


def _made(rundir: RunDir) -> dict[str, int]:
    """Return the last time that each recreated topic was created."""
    found: dict[str, int] = {}
    for row in read(rundir, "remakings").to_pylist():
        found[row["topic"]] = max(row["made"], found.get(row["topic"], 0))
    return found


def _known(rundir: RunDir, topics: Collection[str], made: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """Yield records with a known position, with the same column names from every table."""
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
    """Yield the processes that wrote the records of a batch, each with a mask of its rows."""
    names = batch["producer"].dictionary_encode()
    codes = names.indices.to_numpy(zero_copy_only=False)
    incarnations = batch["producer_incarnation"].to_numpy(zero_copy_only=False)
    for code in np.unique(codes).tolist():
        for incarnation in np.unique(incarnations[codes == code]).tolist():
            yield (names.dictionary[code].as_py(), incarnation), (codes == code) & (incarnations == incarnation)


def _starts(rundir: RunDir) -> dict[_Place, int]:
    """Return the log start offset of each partition that was read completely."""
    rows = read(rundir, "audit_ranges").to_pylist()
    whole = [row for row in rows if row["complete"] and row["isolation"] == _ALL]
    return {(row["topic"], row["partition"]): row["log_start"] for row in whole}


def _extents(batch: pa.RecordBatch, starts: dict[_Place, int]) -> Iterator[tuple[_Place, int, int]]:
    """Yield, by partition, the lowest and highest offset of a batch's rows at or above the log's start."""
    offsets = batch["offset"].to_numpy(zero_copy_only=False)
    by_place: dict[_Place, list[int]] = {}
    for number, row in enumerate(batch.select(["topic", "partition"]).to_pylist()):
        place = (row["topic"], row["partition"])
        if offsets[number] >= starts.get(place, _NEVER):
            by_place.setdefault(place, []).append(int(offsets[number]))
    for place, some in by_place.items():
        yield place, min(some), max(some)
