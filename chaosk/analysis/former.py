"""Topics that were deleted and made again in a run, and the numbers by which their former partitions are told apart.

The topic that is there in the end keeps its numbers. Partition 2 of the one before it is 1002, of the one before that
2002: they are other logs, and to the rules they are other partitions. See docs/decisions/topics-made-again.md.
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
"""What the numbers of partitions of a former topic are apart at least."""
MOST = 16_382
"""The highest number of a partition (``frames.packed``)."""


@dataclass(frozen=True, slots=True)
class Remaking:
    """One topic that was made again, once or more."""

    made: tuple[int, ...]
    """When each time the controller was asked to, ascending."""
    gone: tuple[int, ...]
    """When each time no broker knew the one before it any more."""
    apart: int
    """What the numbers of its former partitions are apart."""

    def age(self, moment: int) -> int:
        """Which topic of that name there was at a moment: 0 for the first."""
        return bisect_right(self.made, moment)

    def number(self, partition: int, age: int) -> int:
        """The number of a partition of the topic of that age."""
        return partition + self.apart * (len(self.made) - age)


@dataclass(frozen=True, slots=True)
class Former:
    """All of a run."""

    topics: Mapping[str, Remaking] = field(default_factory=dict)

    def told(self, topic: str, partition: int | None) -> tuple[str, int | None]:
        """A place for people: ``orders (deleted)`` and the partition's own number."""
        remaking = self.topics.get(topic)
        if remaking is None or partition is None or partition < remaking.apart:
            return topic, partition
        back, number = divmod(partition, remaking.apart)
        which = "deleted" if len(remaking.made) == 1 else f"deleted, {len(remaking.made) - back + 1} of that name"
        return f"{topic} ({which})", number

    def sent_across(self, topic: Column, partition: Column) -> Column:
        """Whether a record that was seen there, in a former topic, may rightly be in the one made after it as well.

        So it is unless it was acknowledged before that was made (columns ``outcome`` and ``completed``).
        """
        found = F.lit(False)
        for name, remaking in self.topics.items():
            answered = (F.col("outcome") == "ok") & (F.col("completed") < remaking.made[-1])
            there = (topic == name) & (partition >= remaking.apart)
            found = found | (there & ~F.coalesce(answered, F.lit(False)))
        return found


def former(rows: Iterable[Mapping[str, object]], topics: Mapping[str, Topic]) -> Former:
    """From the rows of ``remakings``; raises AnalysisError where partitions are too many to be told apart."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        found.setdefault(str(row["topic"]), []).append((int(str(row["made"])), int(str(row["gone"]))))
    return Former({topic: _remaking(topic, sorted(each), topics[topic].partitions) for topic, each in found.items()})


def _remaking(topic: str, times: list[tuple[int, int]], partitions: int) -> Remaking:
    apart = max(LEAST, partitions)
    if apart * len(times) + partitions > MOST:
        raise AnalysisError(
            f"topic {topic}: made again {len(times)} times with {partitions} partitions, which are too many to be told "
            "apart; make it again less often, or give it less partitions"
        )
    return Remaking(tuple(made for made, _ in times), tuple(gone for _, gone in times), apart)
