"""The first delivery of each value to each reader."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.glances.before import first
from chaosk.analysis.glances.rows import EMPTY, EventRows


def first_deliveries(rows: EventRows) -> NDArray[np.intp]:
    """Return the rows of ``reads`` with a due time that are the first of their value and reader.

    Of several at the same time, the one to the probe whose name comes first. Records of other origin have no due time.
    """
    known = np.flatnonzero(rows.column("reads", "scheduled") != EMPTY)
    probe, at = rows.column("reads", "probe")[known], rows.column("reads", "at")[known]
    value, reader = rows.values("reads")[known], rows.readers()[known]
    order = np.lexsort((rows.ranks("probe")[probe], at, reader, value))
    return known[order[first(value[order]) | first(reader[order])]]
