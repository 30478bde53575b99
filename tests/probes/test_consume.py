"""The probe ``consume``: its settings, and its work against librdkafka's mock cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message, Producer
from pydantic import ValidationError

from chaosk.probes._consume_loop import ConsumeLoop
from chaosk.probes.consume import Consume
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.payload import Payload, encode
from chaosk.spec.contracts.probe import Workplace

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()


def consume(**fields: Any) -> Consume:
    """The probe with these fields, as YAML would give them."""
    return Consume.model_validate({"topic": "orders", **fields})


@pytest.fixture
def filled(mock_cluster: str) -> Iterator[str]:
    """A topic of its own with 40 records in each of its four partitions."""
    topic = f"filled-{next(_numbers)}"
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(160):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=seq % 4)
    assert writer.flush(20) == 0
    yield topic
    del writer


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "neither group nor assign"),
        ({"assign": "all", "commit": "sync"}, "commit: sync needs a group"),
        ({"group": "g", "commit_every": "batch"}, "commit_every goes with commit: sync or async"),
        ({"group": "g", "commit": "automatic", "commit_every": 5}, "commit_every goes with"),
        ({"group": "g", "commit": "often"}, "Input should be"),
        ({"group": "g", "config": {"group.id": "h"}}, "write group"),
        ({"group": "g", "config": {"isolation.level": "x"}}, "write isolation_level"),
        ({"group": "g", "config": {"enable.auto.commit": False}}, "write commit"),
        ({"group": "g", "config": {"acks": 1}}, "producer property"),
        ({"group": "g", "config": {"max.poll.interval.ms": 1000}}, "session.timeout.ms"),
        ({"group": "g", "config": {"partition.assignment.strategy": "mine"}}, "Unsupported partition.assignment"),
        ({"group": "g", "batch": 0}, "greater than or equal to 1"),
        ({"assign": [-1]}, "greater than or equal to 0"),
        ({"assign": "some"}, "Input should be"),
        ({"group": "no group"}, "match pattern"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(fields: dict[str, Any], message: str) -> None:
    """Contradictions between fields, librdkafka's own objections, and settings that belong to the probe."""
    with pytest.raises(ValidationError, match=message):
        consume(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"group": "g"},
        {"group": "g", "commit": "sync", "commit_every": "5s", "start": "end", "batch": 1},
        {"group": "g", "commit": "async", "commit_every": 100, "isolation_level": "read_uncommitted"},
        {"assign": "all", "config": {"auto.offset.reset": "latest"}},
        {"assign": [0, 2], "group": "g", "start": "beginning"},
    ],
)
def test_fields_survive_the_plan(fields: dict[str, Any]) -> None:
    """A probe's JSON loads back as the same probe."""
    probe = consume(**fields)
    assert Consume.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe


def test_defaults_commit_automatically_and_skip_nothing() -> None:
    """With a group librdkafka commits, and a group without offsets begins at the start of the log."""
    settings = consume(group="g").settings()
    assert settings["enable.auto.commit"] is True
    assert settings["auto.offset.reset"] == "earliest"
    assert consume(group="g", config={"auto.offset.reset": "latest"}).settings()["auto.offset.reset"] == "latest"
    assert consume(assign="all").settings()["enable.auto.commit"] is False


# --- work -------------------------------------------------------------------------------------------------------------


def read_all(working: Working) -> list[dict[str, Any]]:
    """Wait for the 160 records, end the probe, and give its reads."""
    working.until(lambda state: state.ok >= 160)
    working.end()
    return working.rows("reads")


def test_every_record_is_read_once_and_recognised(work: Work, filled: str) -> None:
    """Each delivery has its place, its payload and its order; nothing is missing or twice."""
    rows = read_all(work(consume(topic=filled, assign="all", start="beginning"), "reader"))
    assert sorted(row["seq"] for row in rows) == list(range(160))
    assert [row["n"] for row in rows] == list(range(160))
    assert all(row["intact"] and row["producer"] == "writer" and row["producer_incarnation"] == 0 for row in rows)
    assert all(row["seq"] == 4 * row["offset"] + row["partition"] for row in rows)
    assert all(row["assignment"] == 0 and row["group"] is None for row in rows)


def test_polls_say_what_reads_say(work: Work, filled: str) -> None:
    """Every poll has a row, the empty ones too, and its count is that of the deliveries that name it."""
    working = work(consume(topic=filled, assign="all", start="beginning", batch=7))
    rows = read_all(working)
    polls = working.rows("polls")
    assert [poll["poll"] for poll in polls] == list(range(len(polls)))
    by_poll = {poll["poll"]: poll for poll in polls}
    for number, delivered in itertools.groupby(rows, key=lambda row: int(row["poll"])):
        together = list(delivered)
        assert by_poll[number]["records"] == len(together) <= 7
        assert {row["at"] for row in together} == {by_poll[number]["completed"]}
    assert sum(poll["records"] for poll in polls) == 160
    assert all(poll["invoked"] <= poll["completed"] for poll in polls)
    assert any(poll["records"] == 0 for poll in polls)


def test_a_list_of_partitions_is_read_and_no_other(work: Work, filled: str) -> None:
    """A consumer that assigns itself partitions says which, and where it began."""
    working = work(consume(topic=filled, assign=[1, 3], start="beginning"))
    working.until(lambda state: state.ok >= 80)
    working.end()
    assert {row["partition"] for row in working.rows("reads")} == {1, 3}
    assert [(row["partition"], row["offset"], row["kind"]) for row in working.rows("seeks")] == [
        (1, 0, "seek"),
        (3, 0, "seek"),
    ]
    kinds = [(row["kind"], row["partition"], row["assignment"]) for row in working.rows("assignments")]
    assert kinds == [("assign", 1, 0), ("assign", 3, 0), ("revoke", 1, 0), ("revoke", 3, 0)]


def test_beginning_at_the_end_reads_only_what_comes(work: Work, filled: str, mock_cluster: str) -> None:
    """``start: end`` seeks to the next offset, named as a number."""
    working = work(consume(topic=filled, assign="all", start="end"))
    working.until(lambda state: state.lag == 0)
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    writer.produce(filled, encode(RUN, Payload("writer", 0, 999, 0)), partition=0)
    writer.flush(10)
    working.until(lambda state: state.ok == 1)
    working.end()
    assert [(row["seq"], row["offset"]) for row in working.rows("reads")] == [(999, 40)]
    assert {row["offset"] for row in working.rows("seeks")} == {40}


@pytest.mark.parametrize("how", [{"assign": "all"}, {"group": "late"}], ids=["by itself", "for a group"])
def test_where_latest_begins_is_written_down(work: Work, filled: str, how: dict[str, str]) -> None:
    """With nothing committed and ``latest`` it asks for the end, begins there and says so: the rest is not owed."""
    working = work(consume(topic=filled, **how, config={"auto.offset.reset": "latest"}))
    working.until(lambda state: state.lag == 0)
    working.end()
    assert working.rows("reads") == []
    assert {(row["offset"], row["kind"]) for row in working.rows("seeks")} == {(40, "reset")}


def test_foreign_records_are_read_but_not_recognised(work: Work, mock_cluster: str) -> None:
    """A record of somebody else has a place and no identity."""
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    writer.produce("foreign", b"not ours", partition=0)
    writer.produce("foreign", None, key=b"tombstone", partition=0)
    writer.produce("foreign", encode("another-run", Payload("writer", 0, 1, 0)), partition=0)
    writer.flush(10)
    working = work(consume(topic="foreign", assign="all", start="beginning"))
    working.until(lambda state: state.ok == 3)
    working.end()
    assert [(row["intact"], row["producer"], row["seq"]) for row in working.rows("reads")] == [(False, None, None)] * 3


@pytest.mark.parametrize("commit", ["sync", "async"])
def test_commits_are_one_past_what_was_processed(work: Work, filled: str, commit: str) -> None:
    """Each commit has its answer; the last of each partition is its end, and a new member begins there."""
    group = f"group-{commit}"
    working = work(consume(topic=filled, assign="all", group=group, commit=commit, commit_every=10, batch=5))
    read_all(working)
    commits = working.rows("commits")
    assert {(row["outcome"], row["error"], row["kind"], row["assignment"]) for row in commits} == {
        ("ok", None, commit, 0)
    }
    assert {row["partition"]: row["offset"] for row in commits} == dict.fromkeys(range(4), 40)
    assert all(row["invoked"] <= row["completed"] for row in commits)
    again = work(consume(topic=filled, assign="all", group=group, commit="none"), "again")
    again.until(lambda state: state.lag == 0)
    again.end()
    assert [row["offset"] for row in again.rows("fetched")] == [40] * 4
    assert again.rows("reads") == []


def test_each_record_can_be_committed_by_itself(work: Work, filled: str) -> None:
    """With one record a poll and a commit each, every offset is committed once."""
    working = work(consume(topic=filled, assign=[0], group="each", commit="sync", commit_every="record", batch=1))
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert [row["offset"] for row in working.rows("commits")] == list(range(1, 41))


def test_automatic_commits_are_seen_too(work: Work, filled: str) -> None:
    """The client's own commits are rows, at the latest that of the clean end."""
    working = work(consume(topic=filled, assign="all", group="auto", config={"auto.commit.interval.ms": 100}))
    read_all(working)
    commits = working.rows("commits")
    assert {(row["kind"], row["outcome"]) for row in commits} == {("auto", "ok")}
    assert {row["partition"]: row["offset"] for row in commits} == dict.fromkeys(range(4), 40)


def test_without_commits_nothing_is_committed(work: Work, filled: str) -> None:
    """``commit: none`` leaves the group as it was."""
    working = work(consume(topic=filled, assign="all", group="nothing", commit="none"))
    read_all(working)
    assert working.rows("commits") == []


def test_a_group_member_is_assigned_reads_and_leaves(work: Work, filled: str) -> None:
    """Assignments, committed offsets found, deliveries in assignment 0, and a revocation at the clean end."""
    working = work(consume(topic=filled, group="members", commit="sync"), "reader")
    rows = read_all(working)
    assert {row["assignment"] for row in rows} == {0}
    kinds = [row["kind"] for row in working.rows("assignments")]
    assert kinds == ["assign"] * 4 + ["revoke"] * 4
    assert [row["rebalance"] for row in working.rows("assignments")] == [0] * 4 + [1] * 4
    assert [row["offset"] for row in working.rows("fetched")] == [None] * 4
    end = working.rows("ends")[0]
    assert (end["rows"], end["scheduled"]) == (160, 0)
    row = working.rows("incarnations")[0]
    assert (row["kind"], row["group"], row["isolation"], row["commit"]) == (
        "consume",
        "members",
        "read_committed",
        "sync",
    )


def test_lag_is_unknown_until_it_is_known(work: Work, filled: str) -> None:
    """A consumer that holds nothing does not claim to have caught up."""
    working = work(consume(topic=filled, assign="all", start="beginning"))
    assert working.until(lambda _state: True).lag is None
    assert working.until(lambda state: state.ok >= 160 and state.lag is not None).lag == 0
    working.end()


def test_a_partition_that_is_not_there_is_an_error_of_the_poll(work: Work, filled: str) -> None:
    """The client's complaint is on record, and the others are read."""
    working = work(consume(topic=filled, assign=[0, 99], start="committed", group="missing", commit="none"))
    working.until(lambda state: state.ok >= 40 and state.errors > 0)
    working.end()
    assert any(row["error"] and "UNKNOWN" in row["error"] for row in working.rows("polls"))


def test_control_records_at_the_end_are_no_lag(
    mock_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A poll that returns the last record and the end behind its commit marker leaves the position at the end."""
    last = Message(topic="orders", partition=0, offset=9, value=b"not ours")
    end = Message(topic="orders", partition=0, offset=11, error=KafkaError(KafkaError._PARTITION_EOF))
    positions: list[dict[Any, int]] = []
    client = SimpleNamespace(poll=lambda _wait: last, consume=lambda *_: [end])
    monkeypatch.setattr("chaosk.probes._consume_loop.lag", lambda *known: positions.append(dict(known[2])))
    with LiveLog(tmp_path / "live") as log:
        place = Workplace(RUN, "reader", 0, {"bootstrap.servers": mock_cluster}, log, lambda: False, print)
        consuming = ConsumeLoop(consume(group="marked", commit="none"), place)
        monkeypatch.setattr(consuming._fetching, "_client", client)
        consuming._poll()
        consuming._state()
    assert positions == [{("orders", 0): 11}]
