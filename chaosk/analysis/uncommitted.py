"""Number of records that each group had been given and not committed at the end."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import VALUE
from chaosk.analysis.frames.holdings import OWNED, committed_offsets
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.glances.numbers import dense
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.written import written

Counts = dict[tuple[str, str], int]
"""By topic and group."""


def uncommitted(events: Events) -> Counts:
    """Count by topic and committing group the acknowledged records that it was given and had not committed."""
    groups = {worker.group for worker in events.case.workers if worker.group and worker.commit != "none"}
    if events.glances:
        left = at_a_glance(events.rows)
    else:
        left = {(row["topic"], row["group"]): int(row["count"]) for row in events.gathered(_left(events)).collect()}
    topics = {(topic, group) for topic in events.case.topics for group in groups}
    return {key: left.get(key, 0) for key in sorted(topics)}


def _left(events: Events) -> DataFrame:
    done = committed_offsets(events).drop("automatic")
    written = sends(events).filter("written").select(*VALUE)
    return (
        events.table("reads")
        .filter(F.col("group").isNotNull() & F.col("intact"))
        .join(events.near(done), on=list(OWNED), how="left")
        .filter(F.col("committed").isNull() | (F.col("offset") >= F.col("committed")))
        .select("topic", "group", *VALUE)
        .distinct()
        .join(written, on=list(VALUE), how="left_semi")
        .groupBy("topic", "group")
        .count()
    )


def at_a_glance(rows: EventRows) -> Counts:
    """Count them for a small run, with numpy."""
    commits, reads = _committed(rows), rows.count("reads")
    group, topic, values = (*rows.columns("reads", "group", "topic"), rows.values("reads"))
    keys = dense(np.concatenate((group, commits[0])), np.concatenate((rows.places("reads"), commits[1])))
    committed = np.full(int(keys.max(initial=0)) + 1, EMPTY)
    np.maximum.at(committed, keys[reads:], commits[2])
    acknowledged = rows.values("sends")[written(rows)]
    left = (group != EMPTY) & (rows.column("reads", "offset") >= committed[keys[:reads]])
    left &= np.isin(values, acknowledged)
    found: Counts = {}
    for name, whose, _ in np.unique(np.stack((topic[left], group[left], values[left])), axis=1).T.tolist():
        key = (rows.word("topic", name) or "", rows.word("group", whose) or "")
        found[key] = found.get(key, 0) + 1
    return found


def _committed(rows: EventRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return group, place and offset of the reported committed offsets; where none is reported, of the last commits."""
    told = rows.columns("groups", "group")[0], rows.places("groups"), rows.column("groups", "offset")
    done = rows.column("commits", "outcome") == rows.code("outcome", "ok")
    group, completed, offset = (column[done] for column in rows.columns("commits", "group", "completed", "offset"))
    place = rows.places("commits")[done]
    last = np.lexsort((offset, completed))
    keys = dense(np.concatenate((told[0], group)), np.concatenate((told[1], place)))
    known = np.isin(keys, keys[: len(told[0])][told[2] != EMPTY])[len(told[0]) :]
    newest = np.full(int(keys.max(initial=0)) + 1, EMPTY)
    newest[keys[len(told[0]) :][last]] = offset[last]
    own = np.where(known, EMPTY, newest[keys[len(told[0]) :]])
    return np.concatenate((told[0], group)), np.concatenate((told[1], place)), np.concatenate((told[2], own))
