"""The probe ``transform``: its settings, and its work against librdkafka's mock cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform

from .conftest import Working

Work = Callable[..., Working]


def transform(topic: str, **transaction: Any) -> Transform:
    """The probe, from a topic to the one named after it."""
    return Transform.model_validate({"topic": topic, "to": f"{topic}-out", "group": topic, "transaction": transaction})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"to": "orders"}, "read its own output"),
        ({"transaction": {"takes_over": "5s"}}, "probes that produce"),
        ({"config": {"isolation.level": "read_uncommitted"}}, "it reads at read_committed"),
        ({"config": {"enable.auto.commit": True}}, "committed in transactions"),
        ({"producer_config": {"acks": 1}}, "must be set to `all`"),
        ({"producer_config": {"transactional.id": "t"}}, "write `transaction: {id: ...}`"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    """A loop, a standby, and settings that are the probe's."""
    with pytest.raises(ValidationError, match=message):
        Transform.model_validate({"topic": "orders", "to": "invoices", "group": "g", **fields})


def test_fields_survive_the_plan() -> None:
    """A probe's JSON loads back as the same probe."""
    probe = transform("orders", lasts="500ms", abort_every=3)
    assert Transform.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe
    assert probe.topics() == ("orders", "orders-out")
    assert probe.groups() == ("orders",)
    assert probe.transactional_ids("pipe") == (probe.writing("pipe")["transactional.id"],)


def test_every_input_has_one_output_that_was_committed(work: Work) -> None:
    """Some transactions are aborted on purpose; their inputs are read again, and each is written once and for good."""
    writer = work(Produce.model_validate({"topic": "inputs", "rate": "500/s"}), "writer")
    writer.until(lambda state: state.ok > 300)
    working = work(transform("inputs", records=50, abort_every=3), "pipe")
    working.until(lambda state: state.ok > 500)
    writer.end()
    working.until(lambda state: state.lag == 0)
    working.end()
    outcomes = {row["txn"]: row["outcome"] for row in working.rows("transactions")}
    assert {"committed", "aborted"} <= set(outcomes.values()) <= {"committed", "aborted"}
    txn_of = {row["seq"]: row["txn"] for row in working.rows("sends")}
    outputs = working.rows("outputs")
    assert {row["seq"] for row in outputs} == set(txn_of)
    kept = Counter((row["partition"], row["offset"]) for row in outputs if outcomes[txn_of[row["seq"]]] == "committed")
    assert set(kept.values()) == {1}
    acked = {(row["partition"], row["offset"]) for row in writer.rows("sends") if row["outcome"] == "ok"}
    ends = {
        row["partition"]: row["offset"] for row in working.rows("txn_offsets") if outcomes[row["txn"]] == "committed"
    }
    assert set(kept) == {place for place in acked if place[1] < ends.get(place[0], 0)}
    for row in working.rows("reads"):
        assert row["txn"] in outcomes
    aborted = [row for row in working.rows("transactions") if row["outcome"] == "aborted"]
    first: dict[tuple[str, int], int] = {}
    for row in working.rows("reads"):
        first.setdefault((row["txn"], row["partition"]), row["offset"])
    sought = {(row["partition"], row["offset"]) for row in working.rows("seeks")}
    for row in aborted[:-1]:
        assert {(place, offset) for (txn, place), offset in first.items() if txn == row["txn"]} <= sought
    (end,) = working.rows("ends")
    assert end["rows"] == len(working.rows("reads")) + len(working.rows("sends"))
    assert working.rows("incarnations")[0]["kind"] == "transform"
