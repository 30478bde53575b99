"""Stretches of identical metadata answers of brokers, of a run of any size: the watcher takes few samples a second."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.metadata_spans import HOLD, MetadataSpan


def said(rows: EventRows) -> Iterator[MetadataSpan]:
    """Yield each stretch of a broker's identical answers about a partition."""
    at, asked, topic, partition = rows.columns("partitions", "at", "asked", "topic", "partition")
    what = (
        *rows.columns("partitions", "leader", "leader_epoch"),
        rows.firsts("partitions", "replicas"),
        rows.lengths("partitions", "replicas"),
        rows.lengths("partitions", "isr"),
    )
    order = np.lexsort((*reversed(what), at, asked, partition, topic))
    at, who, what_said = at[order], np.stack([topic, partition, asked])[:, order], np.stack(what)[:, order]
    soon = np.diff(at) <= HOLD
    soon &= (np.diff(who) == 0).all(axis=0)
    stands = np.append(np.where(soon, at[1:], at[:-1]), at[-1:])
    fresh = np.append(True, ~soon | (np.diff(what_said) != 0).any(axis=0))[: at.size]
    firsts = np.flatnonzero(fresh)
    lasts = np.append(firsts[1:], at.size) - 1
    for first, last in zip(firsts.tolist(), lasts[: firsts.size].tolist(), strict=True):
        code, number, broker = who[:, first].tolist()
        name = rows.word("topic", code) or ""
        words = [*what_said[:, first].tolist(), int(at[last])]
        yield MetadataSpan(name, number, broker, int(at[first]), int(stands[last]), *words)
