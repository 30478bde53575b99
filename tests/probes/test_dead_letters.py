"""Dead letters: sent by a producer of the consumer's own, waited for or not, against librdkafka's mock cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pydantic import ValidationError

from chaosk.probes.consume import Consume
from chaosk.rundir.events.payload import Payload, decode, encode

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()


def in_group(topic: str, **fields: Any) -> Consume:
    """A member of a group that commits what it has processed."""
    group = {"topic": topic, "group": f"{topic}-group", "commit": "sync", "start": "committed", "assign": [0]}
    return Consume.model_validate({**group, **fields})


@pytest.fixture
def filled(mock_cluster: str) -> Iterator[str]:
    """A topic of its own with 40 records in its first partition, seq by offset."""
    topic = f"lettered-{next(_numbers)}"
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(40):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=0)
    assert writer.flush(20) == 0
    yield topic
    del writer


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"failing": {"every": 10, "handling": "dead_letter"}}, "needs the topic that dead letters are sent to"),
        ({"failing": {"every": 10, "handling": "swallow", "topic": "dead"}}, "go with handling: dead_letter"),
        ({"failing": {"every": 10, "handling": "leave", "wait": False}}, "go with handling: dead_letter"),
        ({"failing": {"every": 10, "handling": "stop", "tries": 3}}, "seek_back or dead_letter"),
        ({"producer_config": {"acks": 1}}, "producer_config is for a probe that writes"),
        (
            {"failing": {"every": 10, "handling": "dead_letter", "topic": "dead"}, "producer_config": {"acks": 7000}},
            "acks",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    """Letters without an address, an address without letters, and settings that librdkafka does not take."""
    with pytest.raises(ValidationError, match=message):
        in_group("orders", **fields)


def test_the_topic_of_the_letters_is_one_it_writes() -> None:
    """Both topics are the probe's, and only the first one is read."""
    probe = in_group("orders", failing={"every": 10, **dead("orders")})
    assert (probe.topics(), probe.reads()) == (("orders", "orders-dead"), ("orders",))
    assert Consume.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe


def committed(working: Working) -> int | None:
    """The offset committed last."""
    rows = working.rows("commits")
    return max(row["offset"] for row in rows) if rows else None


def dead(topic: str, **fields: Any) -> dict[str, Any]:
    """How a failure is handled: a dead letter to the topic's own."""
    return {"handling": "dead_letter", "topic": f"{topic}-dead", **fields}


def letters(mock_cluster: str, topic: str) -> list[Payload]:
    """What a plain consumer finds in the topic of the dead letters."""
    reader = Consumer({"bootstrap.servers": mock_cluster, "group.id": "plain", "auto.offset.reset": "earliest"})
    reader.assign([TopicPartition(f"{topic}-dead", number, 0) for number in range(4)])
    found: list[Payload] = []
    empty = 0
    while empty < 10:
        message = reader.poll(0.1)
        empty = empty + 1 if message is None else 0
        if message is not None and message.error() is None:
            payload = decode(message.value(), RUN)
            assert payload is not None
            found.append(payload)
    reader.close()
    return sorted(found)


def test_a_dead_letter_is_there_before_its_record_is_committed_past(work: Work, filled: str, mock_cluster: str) -> None:
    """Two failures, two acknowledged letters of the probe's own, named by their inputs; everything is committed."""
    working = work(in_group(filled, failing={"every": 20, **dead(filled)}), "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert [(row["offset"], row["handling"]) for row in working.rows("failures")] == [
        (19, "dead_letter"), (39, "dead_letter"),
    ]  # fmt: skip
    assert [(row["seq"], row["topic"], row["offset"]) for row in working.rows("outputs")] == [
        (0, filled, 19), (1, filled, 39),
    ]  # fmt: skip
    sent = working.rows("sends")
    assert [(row["probe"], row["seq"], row["topic"], row["outcome"]) for row in sent] == [
        ("reader", 0, f"{filled}-dead", "ok"), ("reader", 1, f"{filled}-dead", "ok"),
    ]  # fmt: skip
    assert [(each.producer, each.seq) for each in letters(mock_cluster, filled)] == [("reader", 0), ("reader", 1)]
    assert committed(working) == 40
    done = max(row["completed"] for row in sent)
    assert all(row["invoked"] >= done for row in working.rows("commits") if row["offset"] == 40)
    assert [row["rows"] for row in working.rows("ends")] == [42]
    assert [(row["acks"], row["idempotent"]) for row in working.rows("incarnations")] == [(-1, False)]


def test_a_record_is_tried_again_before_it_is_a_dead_letter(work: Work, filled: str) -> None:
    """Twice more with tries: 2, and the third failure sends the letter."""
    working = work(in_group(filled, failing={"every": 40, "tries": 2, **dead(filled)}), "reader")
    working.until(lambda state: state.ok >= 42)
    working.end()
    assert [row["handling"] for row in working.rows("failures")] == ["seek_back", "seek_back", "dead_letter"]
    assert [row["seq"] for row in working.rows("sends")] == [0]
    assert committed(working) == 40


UNSENDABLE = {"security.protocol": "ssl", "message.timeout.ms": 300}
"""A producer that the cluster, which speaks no TLS, never understands."""


def test_without_an_acknowledgement_the_record_is_tried_again(work: Work, filled: str) -> None:
    """A letter that cannot be sent: the record is sought back to for ever, and never committed past."""
    probe = in_group(filled, failing={"every": 20, **dead(filled)}, producer_config=UNSENDABLE)
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 22)
    working.end()
    assert {row["handling"] for row in working.rows("failures")} == {"seek_back"}
    assert {(row["outcome"], row["error"]) for row in working.rows("sends")} == {("info", "_MSG_TIMED_OUT")}
    assert {row["offset"] for row in working.rows("outputs")} == {19}
    assert committed(working) == 19


def test_who_does_not_wait_commits_past_what_was_never_sent(work: Work, filled: str) -> None:
    """With wait: false the record counts as done although its letter never arrives, and the log says so."""
    probe = in_group(filled, failing={"every": 20, "wait": False, **dead(filled)}, producer_config=UNSENDABLE)
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert [row["handling"] for row in working.rows("failures")] == ["dead_letter"] * 2
    assert [row["outcome"] for row in working.rows("sends")] == ["info"] * 2
    assert committed(working) == 40
