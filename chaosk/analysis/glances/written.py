"""Attempts to produce that count as written, with numpy; ``frames.sends`` does the same with Spark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers


def written(rows: EventRows) -> NDArray[np.bool_]:
    """Mark the rows of ``sends`` that are "W": acknowledged, and in no transaction or in one that committed.

    A transaction also counts as committed if a reader at read_committed was given one of its records.
    """
    outcome, txn = rows.columns("sends", "outcome", "txn")
    acknowledged: NDArray[np.bool_] = outcome == rows.code("outcome", "ok")
    inside = np.flatnonzero(txn != EMPTY)
    if not inside.size:
        return acknowledged
    ended, how = rows.columns("transactions", "txn", "outcome")
    told = ended[how == rows.code("outcome", "committed")]
    shown = txn[inside][np.isin(rows.values("sends")[inside], _shown(rows))]
    acknowledged &= (txn == EMPTY) | np.isin(txn, np.union1d(told, shown))
    return acknowledged


def _shown(rows: EventRows) -> Numbers:
    """Return the intact values that any reader at read_committed, or the tail audit at that level, was given."""
    level = rows.code("isolation", "read_committed")
    members = rows.processes("incarnations")[rows.column("incarnations", "isolation") == level]
    read = np.isin(rows.processes("reads"), members) & (rows.column("reads", "intact") == 1)
    audited = (rows.column("audit", "isolation") == level) & (rows.column("audit", "intact") == 1)
    return np.concatenate([rows.values("reads")[read], rows.values("audit")[audited]])
