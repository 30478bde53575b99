"""The screens of ``chaosk.analysis.screens`` for runs that fit into memory, with numpy.

Each finds all that its Spark counterpart finds, and sometimes more: cases that are slow to decide count as found.
"""

from __future__ import annotations

import numpy as np

from chaosk.analysis.glances.before import coded
from chaosk.analysis.glances.numbers import dense, differ, in_turn, lacks, repeated
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.readers import owed


def glanced(rows: EventRows) -> dict[str, int]:
    """Return 1 for each screen that finds anything, else 0."""
    value, place = _sightings(rows)
    jumped, backward = _turns(rows)
    foreign = rows.case.foreign
    found = {
        "missing": _missing(rows),
        "doubled": differ(value, place),
        "crowded": differ(place, value),
        "lacking": foreign or _lacking(rows),
        "repeated": foreign or _repeated(rows),
        "jumped": jumped,
        "sought": _sought(rows),
        "backward": backward,
    }
    return {name: int(holds) for name, holds in found.items()}


def _known(rows: EventRows, table: str) -> Numbers:
    """Return the values of a table's records that are of this run."""
    values = rows.values(table)
    known: Numbers = values[values != EMPTY]
    return known


def _missing(rows: EventRows) -> bool:
    stored, visible = _audited(rows)
    if lacks(_known(rows, "reads"), np.concatenate((stored, visible))) or lacks(visible, stored):
        return True
    written = _written(rows)
    values, plain = rows.values("sends"), rows.column("sends", "txn") == EMPTY
    return lacks(written, stored) or lacks(written, visible) or lacks(np.intersect1d(values[plain], stored), visible)


def _written(rows: EventRows) -> Numbers:
    """Return the acknowledged values, except those of transactions known to be aborted."""
    outcome, txn = rows.columns("sends", "outcome", "txn")
    written = outcome == rows.code("outcome", "ok")
    if rows.case.transactional:
        written &= ~np.isin(txn, _aborted(rows))
    found: Numbers = rows.values("sends")[written]
    return found


def _audited(rows: EventRows) -> tuple[Numbers, Numbers]:
    """Return the audited values at read_uncommitted, and those at read_committed."""
    values, level = rows.values("audit"), rows.column("audit", "isolation")
    known = values != EMPTY
    careful = level == rows.code("isolation", "read_committed")
    return values[known & ~careful], values[known & careful]


def _aborted(rows: EventRows) -> Numbers:
    """Return aborted transactions without a record that was delivered, or audited at read_committed."""
    txn, outcome = rows.columns("transactions", "txn", "outcome")
    committed = rows.column("audit", "isolation") == rows.code("isolation", "read_committed")
    shown = np.concatenate((rows.values("reads"), rows.values("audit")[committed]))
    proven = rows.column("sends", "txn")[np.isin(rows.values("sends"), shown)]
    return np.setdiff1d(txn[outcome == rows.code("outcome", "aborted")], proven)


def _sightings(rows: EventRows) -> tuple[Numbers, Numbers]:
    """Return the values seen, and their places as dense numbers."""
    value, log, offset = sightings(rows)
    return value, dense(log, offset)


def sightings(rows: EventRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return value, log and offset of all sightings: by readers, the audit, and sends that did not fail."""
    values, logs, offsets = [], [], []
    for table in ("sends", "reads", "audit"):
        value, log, offset = rows.values(table), rows.places(table), rows.column(table, "offset")
        known = (value != EMPTY) & (offset >= 0)
        if table == "sends":
            known &= rows.column("sends", "outcome") != rows.code("outcome", "fail")
        values.append(value[known])
        logs.append(log[known])
        offsets.append(offset[known])
    return np.concatenate(values), np.concatenate(logs), np.concatenate(offsets)


def turned(rows: EventRows) -> bool:
    """Return True if a value was seen at or before one that its process sent earlier to the same partition."""
    value, log, offset = sightings(rows)
    if differ(value, log) or differ(value, offset):
        return True  # it takes a look at each sighting
    if not value.size:
        return False
    where, logs = np.full(int(value.max()) + 1, EMPTY), np.full(int(value.max()) + 1, EMPTY)
    where[value], logs[value] = offset, log
    of_process = np.searchsorted(rows.first_values(), np.arange(len(where)), "right")
    known = np.flatnonzero(where != EMPTY)
    order, same = in_turn(dense(of_process[known], logs[known]), known)
    return bool(np.any(same & (np.diff(where[known][order]) <= 0)))


def _readers(rows: EventRows) -> dict[str, Numbers]:
    """Return the values delivered to each reader (a group, or a probe without one)."""
    probe, values = rows.column("reads", "probe"), rows.values("reads")
    found: dict[str, list[int]] = {}
    for name, reader in rows.case.consumers:
        found.setdefault(reader, []).append(rows.code("probe", name))
    return {reader: values[np.isin(probe, probes) & (values != EMPTY)] for reader, probes in found.items()}


def _lacking(rows: EventRows) -> bool:
    topics = np.concatenate((rows.column("audit", "topic"), rows.column("sends", "topic")))
    values = np.concatenate((rows.values("audit"), rows.values("sends")))
    acknowledged = np.isin(rows.values("sends"), _written(rows))
    due = (values != EMPTY) & np.concatenate((np.ones(rows.count("audit"), np.bool_), acknowledged))
    given = _readers(rows)
    for reader, names in owed(rows.case).items():
        mine = values[due & np.isin(topics, [rows.code("topic", name) for name in names])]
        if lacks(mine, given.get(reader, values[:0])):
            return True
    return False


def _repeated(rows: EventRows) -> bool:
    return any(repeated(values) for values in _readers(rows).values())


def _turns(rows: EventRows) -> tuple[bool, bool]:
    """Return two flags: a delivery skips offsets after the previous one of its assignment; one is not after it."""
    n, assignment, offset = rows.columns("reads", "n", "assignment", "offset")
    order, same = in_turn(coded(*rows.columns("reads", "probe", "incarnation", "topic", "partition"), assignment), n)
    step = np.diff(offset[order])[same]
    return bool(np.any(step > 1)), bool(np.any(step < 1))


def _sought(rows: EventRows) -> bool:
    """Return True if a delivery right after a seek is beyond the position sought."""
    if not rows.count("seeks"):
        return False
    given, moved = rows.count("reads"), rows.count("seeks")
    who, place, at, n = (
        np.concatenate(pair)
        for pair in (
            (rows.processes("reads"), rows.processes("seeks")),
            (rows.places("reads"), rows.places("seeks")),
            (rows.column("reads", "at"), rows.column("seeks", "at")),
            (rows.column("reads", "n"), np.full(moved, -1)),
        )
    )
    offset = np.concatenate((rows.column("reads", "offset"), rows.column("seeks", "offset")))
    read = np.concatenate((np.ones(given, np.int64), np.zeros(moved, np.int64)))
    order, same = in_turn(dense(who, place), at, read, n)
    after = same & (read[order][:-1] == 0) & (read[order][1:] == 1)
    return bool(np.any(after & (np.diff(offset[order]) > 0)))
