"""The settings of topics: what Kafka's own validation says of values, in 3.9.2 and in 4.2.0."""

from __future__ import annotations

import pytest

from chaosk.spec.topic_settings import SETTINGS, refusal

TAKEN: dict[str, list[object]] = {
    "cleanup.policy": ["compact,delete", "delete, compact", ""], "compression.gzip.level": [-1, 9],
    "compression.type": ["zstd", "producer"], "retention.ms": [-1, "86400000"], "retention.bytes": [-5],
    "min.insync.replicas": [1, "2"], "preallocate": [True, "TRUE"], "min.cleanable.dirty.ratio": [0, 0.5, 1],
    "follower.replication.throttled.replicas": ["*", "0:1,1:2"], "segment.bytes": [1_048_576],
    "message.timestamp.type": ["LogAppendTime"], "local.retention.ms": [-2, 5], "compression.zstd.level": [-131_072],
    "remote.storage.enable": [False],
}  # fmt: skip
REFUSED: dict[str, list[object]] = {
    "cleanup.policy": ["none", "[compact]"], "compression.gzip.level": [0, 10], "compression.type": ["GZIP", "none"],
    "retention.ms": [-2, 1.0, "1e3", "7d", True, 2**63], "min.insync.replicas": [0, 2**31, "two"],
    "preallocate": ["yes", 1], "min.cleanable.dirty.ratio": [1.1, "half"],
    "follower.replication.throttled.replicas": ["none", "x"], "segment.bytes": [13, 2**31],
    "message.timestamp.type": ["logappendtime"], "local.retention.ms": [-3], "max.compaction.lag.ms": [0],
    "flush.ms": [-1], "segment.ms": [0], "segment.jitter.ms": [-1],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, several in TAKEN.items() for each in several])
def test_what_brokers_take_is_right(name: str, value: object) -> None:
    """In both releases."""
    assert [refusal(name, value, [release]) for release in SETTINGS] == [None, None]


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, several in REFUSED.items() for each in several])
def test_what_brokers_refuse_is_refused(name: str, value: object) -> None:
    """By both, with what to write."""
    told = refusal(name, value)
    assert told is not None
    assert "write" in told or "did you mean" in told


@pytest.mark.parametrize(
    ("name", "value", "three", "four"),
    [
        ("segment.bytes", 14, None, "from 1048576 to 2147483647"),
        ("message.format.version", "3.0", None, "topics of Kafka 4 have no setting message.format.version"),
        ("message.format.version", 9, "'9' is no version of Kafka", "topics of Kafka 4 have no"),
        ("message.downconversion.enable", True, None, "topics of Kafka 4 have no"),
        ("message.timestamp.difference.max.ms", 5, None, "topics of Kafka 4 have no"),
        ("internal.segment.bytes", 20, "topics of Kafka 3 have no", None),
        ("retention.s", 5, "did you mean 'retention.ms'?", "did you mean 'retention.ms'?"),
    ],
)
def test_what_the_releases_do_not_agree_on(name: str, value: object, three: str | None, four: str | None) -> None:
    """Each is asked by itself; where both would do, what one of them takes is right."""
    for release, says in ((3, three), (4, four)):
        told = refusal(name, value, [release])
        assert told is None if says is None else says in str(told)
    assert (refusal(name, value) is None) == (None in (three, four))
