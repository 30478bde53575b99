"""What has to be read of each partition, and what is said where that cannot be told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import PartitionView
from chaosk.cluster.wire import NoAnswer
from chaosk.run.audit.ranges import AuditRange, ends, ranges
from chaosk.spec.contracts.live import UnknownTopic


@dataclass
class FakeBrokers:
    """Leaders that tell the offsets of their partitions; `behind` counts down how long followers need."""

    leaders: tuple[int, ...] = (0, 1)
    offsets: dict[int, tuple[int, int, int, int]] = field(default_factory=lambda: {0: (0, 9, 9, 9), 1: (2, 7, 5, 7)})
    behind: int = 0
    silent: tuple[int, ...] = ()

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """One for each leader."""
        if topic != "orders":
            raise UnknownTopic(f"topic {topic}: the cluster has no such topic")
        return tuple(
            PartitionView(topic=topic, partition=n, leader=leader, replicas=(0, 1), isr=(0, 1))
            for n, leader in enumerate(self.leaders)
        )

    def ask(self, broker: int, request: Any) -> SimpleNamespace:
        """The answer to one of the four questions: log start, log end, high watermark, last stable."""
        if broker in self.silent or broker < 0:
            raise NoAnswer(f"broker {broker}: no answer within 1 s")
        column = {(-2, -2): 0, (-2, -1): 3, (-1, -1): 1}[request.replica_id, _timestamp(request)]
        column = 2 if request.isolation_level == 1 else column
        lag = self._lag() if column in (1, 2) else 0
        return SimpleNamespace(
            topics=[
                SimpleNamespace(
                    name=topic.name,
                    partitions=[
                        SimpleNamespace(
                            partition_index=one.partition_index,
                            error_code=0 if one.partition_index in self.offsets else 6,
                            offset=self.offsets.get(one.partition_index, (0, 0, 0, 0))[column] - lag,
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _lag(self) -> int:
        self.behind -= 1
        return int(self.behind > 0)


def _timestamp(request: Any) -> int:
    return int(request.topics[0].partitions[0].timestamp)


def found(brokers: FakeBrokers, settle: float = 5.0, topics: Sequence[str] = ("orders",)) -> tuple[AuditRange, ...]:
    """The ranges of `orders`."""
    return ranges(cast("Brokers", brokers), topics, settle)


def test_each_level_has_its_own_end() -> None:
    """read_uncommitted ends at the high watermark, read_committed at the last stable offset."""
    first, second = found(FakeBrokers())
    assert (first.log_start, first.end("read_uncommitted"), first.end("read_committed"), first.why) == (0, 9, 9, None)
    assert (second.log_start, second.end("read_uncommitted"), second.end("read_committed")) == (2, 7, 5)


def test_waits_for_followers() -> None:
    """Records that leaders hold and followers do not yet have are waited for, not left out."""
    began = time.monotonic()
    assert [one.why for one in found(FakeBrokers(behind=12))] == [None, None]
    assert time.monotonic() - began < 4


def test_says_when_followers_do_not_come() -> None:
    """A high watermark that stays behind means that there are records nobody can read."""
    (first, _) = found(FakeBrokers(behind=10**6), settle=0.3)
    assert first.why == "the high watermark is 1 offsets behind the end of the leader's log"


@pytest.mark.parametrize(
    ("brokers", "why"),
    [
        (FakeBrokers(leaders=(0, -1)), "broker -1: no answer within 1 s"),
        (FakeBrokers(silent=(1,)), "broker 1: no answer within 1 s"),
        (FakeBrokers(offsets={0: (0, 9, 9, 9)}), "no leader reported its offsets"),
    ],
)
def test_a_partition_that_nobody_can_tell_of(brokers: FakeBrokers, why: str) -> None:
    """It is in the result, with the reason; the others are as they are."""
    first, second = found(brokers, settle=0.1)
    assert (first.high_watermark, first.why) == (9, None)
    assert (second.high_watermark, second.why) == (0, why)


def test_a_topic_that_is_gone_is_an_error() -> None:
    """A topic that vanished cannot be audited as empty."""
    with pytest.raises(UnknownTopic):
        found(FakeBrokers(), topics=("orders", "gone"))


def test_how_far_the_log_of_a_topic_goes() -> None:
    """The high watermark of each partition; where a leader is not sure, nobody knows."""
    assert ends(cast("Brokers", FakeBrokers()), ["orders"]) == {"orders": (9, 7)}
    assert ends(cast("Brokers", FakeBrokers(behind=10**6)), ["orders"]) == {}
    assert ends(cast("Brokers", FakeBrokers(silent=(1,))), ["orders"]) == {}
    assert ends(cast("Brokers", FakeBrokers()), ["gone"]) == {}
