"""Time in which partitions had too few replicas in sync."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chaosk.analysis.case import MIN_ISR, TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.intervals import common, length, union
from chaosk.analysis.metadata_spans import MetadataSpan
from chaosk.analysis.observed_settings import min_isr
from chaosk.analysis.partition_history import PartitionHistory, described
from chaosk.rundir.verdict import Measure


class Replication(Check):
    """Time in which a partition of a topic had fewer in-sync replicas than assigned, or than min.insync.replicas.

    D10, from the watcher's samples, so accurate to one sampling interval on either side. A partition is short of
    replicas while any broker that knows its newest leader epoch names fewer in sync. Partitions that are short at the
    same time count once, and only the time inside a window counts for it. ``under_min_isr_time`` uses the topic's
    ``min.insync.replicas``; a topic without this setting, or with an entry that changes it, has no such figure. Time
    without an answer of any broker does not count. A window in which no broker described the topic for five seconds has
    no figure.
    """

    rule = "D10"
    title = "time with too few replicas in sync"
    counted = ("stretch with too few replicas in sync", "stretches with too few replicas in sync")
    metrics = ("under_replicated_time", "under_min_isr_time")
    tables = ("partitions",)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``under_replicated_time`` and ``under_min_isr_time`` of each topic and window."""
        said = events.once(described)
        for topic, shape in sorted(events.case.topics.items()):
            for window in events.case.windows:
                short = _seconds(said, topic, window, lambda one: one.isr < one.replicas)
                yield measured("under_replicated_time", topic, window.name, short)
                told = MIN_ISR in shape.config and not events.case.changed(topic, MIN_ISR)
                least = min_isr(events.case, topic) if told else None
                few = None if least is None else _seconds(said, topic, window, _fewer_than(least))
                yield measured("under_min_isr_time", topic, window.name, few)


def _fewer_than(least: int) -> Callable[[MetadataSpan], bool]:
    return lambda one: one.isr < least


def _seconds(
    said: PartitionHistory, topic: str, window: TimeSpan, holds: Callable[[MetadataSpan], bool]
) -> float | None:
    """Return the seconds of a window in which the condition held for any partition; None if unknown."""
    if not said.watched(topic, window):
        return None
    times = union(one for place in said.places(topic) for one in said.when(place, holds))
    return length(common(times, [(window.began, window.ended)])) / 1e9
