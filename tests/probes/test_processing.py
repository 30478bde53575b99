"""Work on records and failures of it: the fields, and what the consumer does, against librdkafka's mock cluster."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from pydantic import ValidationError

from chaosk.probes._commits import Commits
from chaosk.probes._ownership import Place
from chaosk.probes._processing import Failing
from chaosk.probes.consume import Consume
from chaosk.rundir.events.payload import Payload, encode

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()


def consume(**fields: Any) -> Consume:
    """The probe with these fields, as YAML would give them."""
    return Consume.model_validate({"topic": "orders", "assign": [0], "start": "beginning", **fields})


def in_group(topic: str, **fields: Any) -> Consume:
    """The probe as one that commits and begins where it committed."""
    return consume(topic=topic, group=f"{topic}-group", commit="sync", start="committed", **fields)


@pytest.fixture
def filled(mock_cluster: str) -> Iterator[str]:
    """A topic of its own with 40 records in its first partition, seq by offset."""
    topic = f"worked-{next(_numbers)}"
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(40):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=0)
    assert writer.flush(20) == 0
    yield topic
    del writer


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"processing": "10ms"}, "like 10ms/record"),
        ({"processing": "10/record"}, "like 10ms/record"),
        ({"processing": "10ms/poll"}, "like 10ms/record"),
        ({"processing": "0s/batch"}, "like 10ms/record"),
        ({"processing": 10}, "like 10ms/record"),
        ({"failing": {"handling": "swallow"}}, "write either every"),
        ({"failing": {"every": 10, "share": 0.1, "handling": "swallow"}}, "write either every"),
        (
            {"failing": {"every": 10, "handling": "swallow", "tries": 3}},
            "tries goes with handling: seek_back or dead_letter",
        ),
        ({"failing": {"every": 10}}, "handling"),
        ({"failing": {"share": 1.5, "handling": "stop"}}, "less than or equal to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    """Durations without a measure, and failures that are not told."""
    with pytest.raises(ValidationError, match=message):
        consume(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"processing": "10ms/record"},
        {"processing": "1.5s/batch", "failing": {"share": 0.01, "handling": "leave"}},
        {"failing": {"every": 100, "times": 2, "handling": "seek_back", "tries": 3}},
    ],
)
def test_fields_survive_the_plan(fields: dict[str, Any]) -> None:
    """A probe's JSON loads back as the same probe, and says the work as it was written."""
    probe = consume(**fields)
    document = probe.model_dump(mode="json", by_alias=True)
    assert Consume.model_validate(document) == probe
    assert document["processing"] == fields.get("processing")


def test_which_records_fail_is_a_matter_of_the_record() -> None:
    """Each so many-th of a producer, or a share that is about right and the same at every look."""
    every = Failing(every=10, handling="stop")
    assert [seq for seq in range(40) if every.concerns(Payload("w", 0, seq, 0))] == [9, 19, 29, 39]
    share = Failing(share=0.1, handling="stop")
    chosen = [[seq for seq in range(10_000) if share.concerns(Payload("w", 0, seq, 0))] for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert 800 < len(chosen[0]) < 1200


def committed(working: Working) -> int | None:
    """The offset committed last."""
    rows = working.rows("commits")
    return max(row["offset"] for row in rows) if rows else None


def test_a_swallowed_record_is_committed_past(work: Work, filled: str) -> None:
    """It is delivered once, its failure is on record with its delivery, and the commit covers it."""
    working = work(in_group(filled, failing={"every": 40, "handling": "swallow"}), "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    (failure,) = working.rows("failures")
    delivery = next(row for row in working.rows("reads") if row["n"] == failure["n"])
    names = ("probe", "incarnation", "group", "topic", "partition", "offset", "producer", "seq", "intact")
    assert {name: failure[name] for name in names} == {name: delivery[name] for name in names}
    assert (failure["offset"], failure["attempt"], failure["handling"]) == (39, 1, "swallow")
    assert committed(working) == 40


def test_a_record_that_is_left_is_not_committed_by_itself(work: Work, filled: str) -> None:
    """The last of the log fails and stays above the committed offset; the one before it is committed past."""
    working = work(in_group(filled, failing={"every": 20, "handling": "leave"}), "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert [(row["offset"], row["handling"]) for row in working.rows("failures")] == [(19, "leave"), (39, "leave")]
    assert committed(working) == 39
    again = work(in_group(filled, failing={"every": 20, "handling": "leave"}), "reader", 1)
    again.until(lambda state: state.ok >= 1)
    again.end()
    assert [row["offset"] for row in again.rows("reads")] == [39]


def test_seeking_back_tries_the_record_again_until_it_works(work: Work, filled: str) -> None:
    """Two attempts fail, the third does not; what came after the record is read after it, once."""
    probe = in_group(filled, failing={"every": 20, "times": 2, "handling": "seek_back"})
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 44)
    working.until(lambda state: state.lag == 0)
    working.end()
    expected = [*range(20), 19, 19, *range(20, 40), 39, 39]
    assert [row["offset"] for row in working.rows("reads")] == expected
    assert [(row["offset"], row["kind"]) for row in working.rows("seeks")][-4:] == [(19, "seek")] * 2 + [
        (39, "seek")
    ] * 2
    assert [(row["offset"], row["attempt"], row["handling"]) for row in working.rows("failures")] == [
        (19, 1, "seek_back"), (19, 2, "seek_back"), (39, 1, "seek_back"), (39, 2, "seek_back"),
    ]  # fmt: skip
    assert committed(working) == 40


def test_tries_that_are_used_up_end_in_swallowing(work: Work, filled: str) -> None:
    """Always failing, tried again three times: four attempts, and the last is swallowed."""
    probe = in_group(filled, failing={"every": 40, "handling": "seek_back", "tries": 3})
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 43)
    working.end()
    assert [row["handling"] for row in working.rows("failures")] == ["seek_back"] * 3 + ["swallow"]
    assert committed(working) == 40


def test_a_consumer_that_stops_leaves_the_rest(work: Work, filled: str) -> None:
    """It commits up to the record that failed, gives its partitions up and ends cleanly when told to."""
    working = work(in_group(filled, failing={"every": 20, "handling": "stop"}), "reader")
    working.until(lambda state: state.ok == 20 and state.lag is None)
    working.end()
    assert [row["offset"] for row in working.rows("reads")] == list(range(20))
    assert committed(working) == 19
    assert [row["kind"] for row in working.rows("assignments")] == ["assign", "revoke"]
    assert [row["rows"] for row in working.rows("ends")] == [20]


def test_work_takes_its_time_and_automatic_commits_do_not_wait_for_it(work: Work, filled: str) -> None:
    """All 40 are fetched at once; while a few are worked on, the client has committed all of them."""
    config = {"auto.commit.interval.ms": 50}
    probe = consume(topic=filled, group=f"{filled}-group", start="committed", processing="100ms/record", config=config)
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 5)
    other = work(consume(topic=filled, group=f"{filled}-group", start="committed", commit="none"), "other")
    other.until(lambda state: state.lag == 0)
    other.end()
    assert [row["offset"] for row in other.rows("fetched")] == [40]
    assert other.rows("reads") == []
    assert len(working.rows("reads")) < 40, "what is not worked on is not there yet"
    began = time.monotonic()
    working.end()
    assert time.monotonic() - began < 3, "told to end, it works on the rest at once"
    assert len(working.rows("reads")) == 40
    assert len({row["at"] for row in working.rows("reads")}) <= 3, "delivered when they were polled"


def test_a_batch_is_worked_on_as_a_whole(work: Work, filled: str) -> None:
    """With 200 ms a batch of ten, four batches take 0.8 s."""
    began = time.monotonic()
    working = work(consume(topic=filled, processing="200ms/batch", batch=10))
    working.until(lambda state: state.ok >= 40)
    assert time.monotonic() - began >= 0.8
    working.end()


def test_what_is_committed_is_on_disk_before(work: Work, filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed right after a commit, a consumer has left the deliveries that the commit covers."""
    lacking: list[set[int]] = []
    working: Working | None = None
    real = Commits.sync

    def sync(commits: Commits, client: Consumer, offsets: dict[Place, int]) -> dict[Place, int]:
        refused = real(commits, client, offsets)
        assert working is not None
        seen = {row["offset"] for row in working.rows("reads")}
        lacking.append(set(range(max(offsets.values()))) - seen)
        return refused

    monkeypatch.setattr(Commits, "sync", sync)
    working = work(in_group(filled, batch=7), "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert len(lacking) >= 5
    assert not set().union(*lacking)
