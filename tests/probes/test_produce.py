"""The probe ``produce``: its settings, and its work against librdkafka's mock cluster."""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from chaosk.probes.produce import Produce
from chaosk.rundir.events.payload import SMALLEST, Payload, encode

from .conftest import RUN, Working

Work = Callable[..., Working]


def produce(**fields: Any) -> Produce:
    """The probe with these fields, as YAML would give them."""
    return Produce.model_validate({"topic": "orders", **fields})


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"config": {"ackz": 1}}, 'No such configuration property: "ackz"'),
        ({"config": {"acks": "some"}}, "Invalid value for configuration property"),
        ({"config": {"acks": 1, "enable.idempotence": True}}, "`acks` must be set to `all`"),
        ({"config": {"linger.ms": -1}}, "outside allowed range"),
        ({"config": {"group.id": "g"}}, "group.id is a consumer property"),
        ({"config": {"bootstrap.servers": "a:1"}}, "it comes from the inventory"),
        ({"config": {"transactional.id": "t"}}, "write `transaction: {id: ...}`"),
        ({"config": {"test.mock.num.brokers": 3}}, "a mock cluster proves nothing"),
        ({"config": {"plugin.library.paths": "evil.so"}}, "loads no code"),
        ({"size": "98B"}, f"greater than or equal to {SMALLEST}"),
        ({"size": 100}, "is not a size"),
        ({"rate": "500"}, "is not a rate"),
        ({"rate": "as_fast_as_possible", "ramp": {"to": "5/s", "over": "1s"}}, "ramp has no start"),
        ({"partition": -1}, "greater than or equal to 0"),
        ({"keys": 0}, "is not a way to choose keys"),
        ({"topic": "no topic"}, "match pattern"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(fields: dict[str, Any], message: str) -> None:
    """Wrong values, librdkafka's own objections and settings that belong to the probe, without any network."""
    with pytest.raises(ValidationError, match=message):
        produce(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"rate": "0.5/s", "keys": "sequence", "size": "1KiB", "partition": 3},
        {"rate": "100/s", "ramp": {"to": "1000/s", "over": "30s"}, "keys": 12},
        {"rate": "as_fast_as_possible", "config": {"acks": 1, "linger.ms": 0.5, "enable.idempotence": False}},
    ],
)
def test_fields_survive_the_plan(fields: dict[str, Any]) -> None:
    """A probe's JSON loads back as the same probe: that is how its process gets it."""
    probe = produce(**fields)
    assert Produce.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe


def test_the_schedule_follows_the_fields() -> None:
    """Constant, ramp, and none at full speed."""
    assert produce(rate="100/s").schedule() == produce(rate="6000/m").schedule()
    ramp = produce(rate="100/s", ramp={"to": "200/s", "over": "10s"}).schedule()
    assert ramp is not None
    assert (ramp.rate, ramp.to, ramp.over) == (100, 200, 10)
    assert produce(rate="as_fast_as_possible").schedule() is None
    assert math.isinf(produce(rate="as_fast_as_possible").rate)


@pytest.mark.parametrize(
    ("keys", "first"),
    [("none", [None] * 4), ("sequence", [b"0", b"1", b"2", b"3"]), (3, [b"0", b"1", b"2", b"0"]), (1, [b"0"] * 4)],
)
def test_keys(keys: Any, first: list[bytes | None]) -> None:
    """No keys, one each, or a few in turn."""
    assert [produce(keys=keys).key(seq) for seq in range(4)] == first


# --- work -------------------------------------------------------------------------------------------------------------


def test_every_record_that_was_due_has_one_row(work: Work) -> None:
    """Sequence numbers without a gap, each acknowledged with its place, and an end marker that says how many."""
    working = work(produce(topic="every", rate="2000/s"), "writer")
    working.until(lambda state: state.ok > 400)
    working.end()
    rows = working.rows("sends")
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))
    assert {row["outcome"] for row in rows} == {"ok"}
    places = {(row["partition"], row["offset"]) for row in rows}
    assert len(places) == len(rows)
    (end,) = working.rows("ends")
    assert (end["probe"], end["incarnation"], end["scheduled"], end["rows"]) == ("writer", 0, len(rows), len(rows))
    assert working.states[-1].ok == len(rows)


def test_deadlines_are_the_schedules_and_not_the_clients(work: Work) -> None:
    """``scheduled`` is start + n/rate exactly, never later than ``invoked``, and latency can be counted from it."""
    working = work(produce(topic="deadlines", rate="1000/s"))
    working.until(lambda state: state.ok > 200)
    working.end()
    started = working.rows("incarnations")[0]["started"]
    for row in working.rows("sends"):
        assert row["scheduled"] == started + row["seq"] * 1_000_000
        assert row["scheduled"] <= row["invoked"] <= row["completed"]


def test_a_stall_of_the_process_moves_no_deadline(work: Work) -> None:
    """A client held up for half a second sends late what was due meanwhile: no slot is missed."""
    working = work(produce(topic="stall", rate="1000/s"))
    working.until(lambda state: state.ok > 100)
    hold_the_interpreter(0.5)
    working.until(lambda state: state.ok > 1000)
    working.end()
    rows = sorted(working.rows("sends"), key=lambda row: row["seq"])
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    lateness = [row["invoked"] - row["scheduled"] for row in rows]
    assert max(lateness) > 0.4e9, "the stall is seen"
    assert sum(late > 0.1e9 for late in lateness) > 300, "and so are the records it held up"
    gaps = {after["scheduled"] - before["scheduled"] for before, after in itertools.pairwise(rows)}
    assert gaps == {1_000_000}


def hold_the_interpreter(seconds: float) -> None:
    """Keep every other thread of this process from running."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        time.sleep(0)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
    finally:
        sys.setswitchinterval(before)


def test_values_carry_what_the_rows_say(work: Work, mock_cluster: str) -> None:
    """What a consumer finds at a row's offset is that row's payload."""
    from confluent_kafka import Consumer, TopicPartition

    working = work(produce(topic="values", rate="500/s", size="150B", partition=2, keys="sequence"), "writer", 7)
    working.until(lambda state: state.ok > 20)
    working.end()
    row = next(row for row in working.rows("sends") if row["seq"] == 11)
    reader = Consumer({"bootstrap.servers": mock_cluster, "group.id": "x", "log_level": 2})
    reader.assign([TopicPartition("values", 2, row["offset"])])
    message = reader.poll(10)
    reader.close()
    assert message is not None
    assert message.value() == encode(RUN, Payload("writer", 7, 11, row["scheduled"]), 150)
    assert message.key() == b"11"
    assert {row["partition"] for row in working.rows("sends")} == {2}


def test_a_full_queue_is_a_failure_and_no_delay(work: Work) -> None:
    """What librdkafka has no room for was definitely not written; later records are sent on time all the same."""
    config = {"queue.buffering.max.messages": 5, "linger.ms": 200}
    working = work(produce(topic="full", rate="1000/s", config=config))
    working.until(lambda state: state.fail > 50 and state.ok > 5)
    working.end()
    rows = working.rows("sends")
    failed = [row for row in rows if row["outcome"] == "fail"]
    assert {row["error"] for row in failed} == {"_QUEUE_FULL"}
    assert all(row["offset"] is None and row["partition"] is None for row in failed)
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))


def test_at_full_speed_a_full_queue_only_waits(work: Work) -> None:
    """As fast as it goes means as fast as the client takes records: none is refused, none is skipped."""
    config = {"queue.buffering.max.messages": 100}
    working = work(produce(topic="speed", rate="as_fast_as_possible", config=config))
    working.until(lambda state: state.ok > 2000)
    working.end()
    rows = working.rows("sends")
    assert {row["outcome"] for row in rows} == {"ok"}
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))


def test_nobody_there_leaves_it_open(work: Work) -> None:
    """Without a cluster the schedule goes on; time-outs are info, because their name hides whether it was sent."""
    config = {"message.timeout.ms": 300, "retries": 0, "acks": 1}
    working = work(
        produce(topic="nobody", rate="200/s", config=config), incarnation=1, **{"bootstrap.servers": "127.0.0.1:1"}
    )
    working.until(lambda state: state.info > 20)
    working.end()
    rows = working.rows("sends")
    assert {(row["outcome"], row["error"]) for row in rows} <= {("info", "_MSG_TIMED_OUT"), ("fail", "_PURGE_QUEUE")}
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))
    assert working.rows("errors"), "the broken connection is an event of its own"
    assert {row["error"] for row in working.rows("errors")} <= {"_TRANSPORT", "_ALL_BROKERS_DOWN", "_RESOLVE"}
    assert working.states[-1].last_error is not None


@pytest.mark.parametrize(("started_by", "warms_up"), [("run", True), ("step", False)])
def test_one_that_a_step_starts_does_not_wait_for_better_times(
    work: Work, monkeypatch: pytest.MonkeyPatch, started_by: str, *, warms_up: bool
) -> None:
    """Its first process is an application that starts at the worst moment: records are due from the beginning."""
    warmed: list[object] = []
    monkeypatch.setattr("chaosk.probes._warm_up.producer", lambda *given: warmed.append(given))
    config = {"message.timeout.ms": 300, "retries": 0, "acks": 1}
    probe = produce(topic="nobody", rate="200/s", config=config, started_by=started_by)
    working = work(probe, **{"bootstrap.servers": "127.0.0.1:1"})
    working.until(lambda state: state.info > 0)
    working.end()
    assert bool(warmed) is warms_up


@pytest.mark.parametrize(("retries", "acks", "outcome"), [(0, 1, "fail"), (0, -1, "info"), (3, 1, "info")])
def test_what_is_given_up_is_definite_only_if_it_was_never_sent(
    work: Work, monkeypatch: pytest.MonkeyPatch, retries: int, acks: int, outcome: str
) -> None:
    """At a clean end the queue is purged: a record that waits there for a retry may have been written before."""
    monkeypatch.setattr("chaosk.probes._produce_loop.DRAIN", 0.3)
    config = {"retries": retries, "acks": acks}
    working = work(
        produce(topic="gone", rate="100/s", config=config), incarnation=1, **{"bootstrap.servers": "127.0.0.1:1"}
    )
    working.until(lambda state: state.scheduled > 10)
    working.end()
    rows = working.rows("sends")
    assert {(row["outcome"], row["error"]) for row in rows} == {(outcome, "_PURGE_QUEUE")}
    assert working.rows("ends")[0]["rows"] == working.rows("ends")[0]["scheduled"] == len(rows)


def test_settings_that_decide_outcomes_are_on_record(work: Work) -> None:
    """The incarnation's row has the effective settings, librdkafka's adjustments included."""
    plain = work(produce(topic="settings"), "plain")
    safe = work(produce(topic="settings", config={"enable.idempotence": True}), "safe")
    for working in (plain, safe):
        working.until(lambda state: state.ok > 0)
        working.end()
    row, other = plain.rows("incarnations")[0], safe.rows("incarnations")[0]
    assert (row["kind"], row["acks"], row["idempotent"], row["max_in_flight"]) == ("produce", -1, False, 1_000_000)
    assert (other["acks"], other["idempotent"], other["max_in_flight"]) == (-1, True, 5)
    assert row["client"].startswith("2.")


def test_a_ramp_speeds_up(work: Work) -> None:
    """More records are due in the second half of a ramp than in the first."""
    working = work(produce(topic="ramp", rate="10/s", ramp={"to": "2000/s", "over": "1s"}))
    working.until(lambda state: state.scheduled > 1100)
    working.end()
    started = working.rows("incarnations")[0]["started"]
    due = [row["scheduled"] - started for row in working.rows("sends")]
    first, second = (sum(begin <= at < begin + 5e8 for at in due) for begin in (0, 5e8))
    assert 200 < first < 300
    assert 700 < second < 800
