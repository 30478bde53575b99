"""The probe ``produce`` in transactions, against librdkafka's mock cluster."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from chaosk.probes.produce import Produce

from .conftest import Working

Work = Callable[..., Working]


def produce(topic: str, rate: str = "1000/s", **transaction: Any) -> Produce:
    """The probe with these transactions."""
    return Produce.model_validate({"topic": topic, "rate": rate, "transaction": transaction})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"transaction": {"records": 10, "lasts": "1s"}}, "not both"),
        ({"transaction": {"records": 0}}, "greater than or equal to 1"),
        ({"transaction": {"abort_every": 0}}, "greater than or equal to 1"),
        ({"transaction": {}, "rate": "as_fast_as_possible"}, "transactions need a rate"),
        ({"transaction": {}, "config": {"acks": 1}}, "must be set to `all`"),
        ({"transaction": {}, "config": {"transactional.id": "t"}}, "write `transaction: {id: ...}`"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    """Two limits, none, settings that transactions cannot have: refused before anything runs."""
    with pytest.raises(ValidationError, match=message):
        Produce.model_validate({"topic": "orders", **fields})


def test_fields_survive_the_plan() -> None:
    """A probe's JSON loads back as the same probe, and its client has the id."""
    probe = produce("orders", lasts="500ms", abort_every=3, id="shared", takes_over="5s")
    assert Produce.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe
    assert probe.settings("writer")["transactional.id"] == "shared"
    assert produce("orders").settings("writer")["transactional.id"] == "chaosk-writer"
    assert (probe.transactional_ids("writer"), produce("orders").transactional_ids("writer")) == (
        ("shared",), ("chaosk-writer",)
    )  # fmt: skip
    assert Produce.model_validate({"topic": "orders"}).transactional_ids("writer") == ()


def test_every_record_is_in_a_transaction_that_ended(work: Work) -> None:
    """So many records in each, each N-th aborted, every send beside its transaction, and nothing between two."""
    working = work(produce("each", records=50, abort_every=3), "writer")
    working.until(lambda state: state.ok > 500)
    working.end()
    transactions = working.rows("transactions")
    sends = working.rows("sends")
    of = Counter(row["txn"] for row in sends)
    assert set(of) == {row["txn"] for row in transactions}
    assert all(of[row["txn"]] == 50 for row in transactions[:-1])
    assert [row["outcome"] for row in transactions[:6]] == ["committed", "committed", "aborted"] * 2
    assert {row["outcome"] for row in sends} == {"ok"}
    assert {(row["transactional_id"], row["producer_epoch"]) for row in transactions} == {("chaosk-writer", 0)}
    assert sorted(row["seq"] for row in sends) == list(range(len(sends)))
    sent = defaultdict(list)
    for row in sends:
        sent[row["txn"]].append(row)
    for row in transactions:
        assert row["initialized"] <= row["begun"] <= row["ending"] <= row["ended"]
        assert all(row["begun"] <= send["invoked"] <= send["completed"] <= row["ending"] for send in sent[row["txn"]])
    kept = {row["txn"] for row in transactions if row["outcome"] == "committed"}
    assert working.states[-1].ok == sum(row["txn"] in kept for row in sends), "what careful readers are owed"
    (end,) = working.rows("ends")
    assert end["rows"] == end["scheduled"] == len(sends)
    incarnation = working.rows("incarnations")[0]
    assert (incarnation["acks"], incarnation["idempotent"]) == (-1, True)


def test_a_transaction_may_last_a_time(work: Work) -> None:
    """Open for 200 ms each: what is due meanwhile goes into it, and its records are sent when they are due."""
    working = work(produce("lasting", lasts="200ms"), "writer")
    working.until(lambda state: state.ok > 700)
    working.end()
    for row in working.rows("transactions")[:-1]:
        assert 0.2e9 <= row["ending"] - row["begun"] < 1e9
    late = sorted(row["invoked"] - row["scheduled"] for row in working.rows("sends"))
    assert late[len(late) // 2] < 0.1e9


def test_a_successor_waits_before_it_takes_over(work: Work) -> None:
    """Until then it is no client of its transactional.id, and nothing is due."""
    working = work(produce("later", takes_over="1s", id="shared"), "standby")
    working.until(lambda state: state.ok > 100)
    working.end()
    started = working.rows("incarnations")[0]["started"]
    first = working.rows("transactions")[0]
    assert first["initialized"] >= started
    assert min(row["scheduled"] for row in working.rows("sends")) == started


@pytest.mark.parametrize("told_after", [0.1, 1.5])
def test_without_a_cluster_the_end_is_in_time(work: Work, told_after: float) -> None:
    """Nobody to take the transactional.id from: nothing is sent, and a clean end does not wait for anybody."""
    working = work(produce("nobody"), incarnation=1, **{"bootstrap.servers": "127.0.0.1:1"})
    working.until(lambda state: state.running)
    time.sleep(told_after)
    began = time.monotonic()
    working.end()
    assert time.monotonic() - began < 15
    assert working.rows("sends") == working.rows("transactions") == []
    assert working.rows("ends")[0]["rows"] == 0


def test_what_is_written_outside_of_transactions_names_none(work: Work) -> None:
    """An ordinary producer's rows have no transaction and no epoch."""
    working = work(Produce.model_validate({"topic": "plain", "rate": "500/s"}), "plain")
    working.until(lambda state: state.ok > 20)
    working.end()
    assert {(row["txn"], row["producer_epoch"]) for row in working.rows("sends")} == {(None, None)}
    assert working.rows("transactions") == []
