"""Topics that were deleted and recreated in a run, and the partition numbers of their former incarnations.

The final topic keeps its numbers. Partition 2 of the previous topic is 1002, of the one before that 2002: they are
other logs, so the rules treat them as other partitions. See docs/decisions/topics-made-again.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F

from chaosk.core.errors import AnalysisError
from chaosk.spec.scenario import Topic

LEAST = 1_000
"""Smallest distance between the numbers of successive incarnations."""
MOST = 16_382
"""Highest partition number (``frames.packed``)."""


@dataclass(frozen=True, slots=True)
class RecreatedTopic:
    """One topic that was recreated, once or more."""

    made: tuple[int, ...]
    """Times at which the controller was asked to create it again, ascending."""
    gone: tuple[int, ...]
    """Times from which no broker knew the previous one, ascending."""
    apart: int
    """Distance between the numbers of successive incarnations."""

    def age(self, moment: int) -> int:
        """Return the index of the topic's incarnation at a time: 0 for the first."""
        return bisect_right(self.made, moment)

    def number(self, partition: int, age: int) -> int:
        """Return the number of a partition of the incarnation ``age``."""
        return partition + self.apart * (len(self.made) - age)


@dataclass(frozen=True, slots=True)
class RecreatedTopics:
    """All recreated topics of a run."""

    topics: Mapping[str, RecreatedTopic] = field(default_factory=dict)

    def told(self, topic: str, partition: int | None) -> tuple[str, int | None]:
        """Return a place for display: ``orders (deleted)`` and the partition's own number."""
        remaking = self.topics.get(topic)
        if remaking is None or partition is None or partition < remaking.apart:
            return topic, partition
        back, number = divmod(partition, remaking.apart)
        which = "deleted" if len(remaking.made) == 1 else f"deleted, {len(remaking.made) - back + 1} of that name"
        return f"{topic} ({which})", number

    def sent_across(self, topic: Column, partition: Column) -> Column:
        """Return a condition: a record seen in a former topic may also be in the next topic without a violation.

        This holds unless it was acknowledged before the next one was created (columns ``outcome`` and ``completed``).
        """
        found = F.lit(False)
        for name, remaking in self.topics.items():
            answered = (F.col("outcome") == "ok") & (F.col("completed") < remaking.made[-1])
            there = (topic == name) & (partition >= remaking.apart)
            found = found | (there & ~F.coalesce(answered, F.lit(False)))
        return found


def former(rows: Iterable[Mapping[str, object]], topics: Mapping[str, Topic]) -> RecreatedTopics:
    """Build from the rows of ``remakings``; raises AnalysisError if there are too many partitions to number."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        found.setdefault(str(row["topic"]), []).append((int(str(row["made"])), int(str(row["gone"]))))
    return RecreatedTopics(
        {topic: _remaking(topic, sorted(each), topics[topic].partitions) for topic, each in found.items()}
    )


def _remaking(topic: str, times: list[tuple[int, int]], partitions: int) -> RecreatedTopic:
    apart = max(LEAST, partitions)
    if apart * len(times) + partitions > MOST:
        raise AnalysisError(
            f"topic {topic}: made again {len(times)} times with {partitions} partitions, which are too many to be told "
            "apart; make it again less often, or give it less partitions"
        )
    return RecreatedTopic(tuple(made for made, _ in times), tuple(gone for _, gone in times), apart)
