"""B10: last stable offsets that stay below the high watermark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import Asked, asking, glances
from analysis.history import History, ns
from analysis.ways import finding, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "stuck_lso")


def sampled(*stays: tuple[float, float, int], grows: bool = True) -> History:
    """Samples once a second from 0 to 200 s of a leader; in each stay the last stable offset is held at a number."""
    history = History(records=10)
    for second in range(200):
        high = 100 + (second if grows else 0)
        stable = next((number for began, ended, number in stays if began <= second < ended), high)
        history.add("offsets", at=second, asked=1, leader=True, log_start=0, high_watermark=high, last_stable=stable)
    return history


@pytest.mark.proves("stuck_lso", "fires")
def test_a_transaction_that_never_ends_is_a_violation(judge: Judge) -> None:
    """B10: held at 90 from 50 s on for 100 s, while the usual timeout is 60 s, and 30 s more are allowed."""
    verdict = judge(sampled((50, 150, 90)))
    assert told(verdict) == {"stuck_lso": 1}
    row = finding(verdict, "stuck_lso").evidence[0]
    assert row["last_stable"] == 90
    assert row["seconds"] == pytest.approx(99)


@pytest.mark.parametrize("marker", [None, 299])
def test_whose_transaction_it_was_is_told_where_the_files_say_so(asked: Asked, marker: int | None) -> None:
    """B10: the one that begins where the last stable offset was held, and what has ended it, if anything has."""
    history = sampled((50, 150, 90))
    for first, producer in ((80, 6), (90, 7), (95, 8)):
        history.add("stretches", first=first, last=first + 1, producer_id=producer, producer_epoch=0, marker=marker)
    assert [(row["producer_id"], row["marker"]) for row in asked(history)] == [(7, marker)]
    history.rows["stretches"].clear()
    assert [(row["producer_id"], row["marker"]) for row in asked(history)] == [(None, None)]


def test_whose_transaction_it_was_is_told_by_who_sent_the_record_there(asked: Asked) -> None:
    """B10: its client was told that it had committed, and the marker was lost (KAFKA-20716); its own timeout counts."""
    history = sampled((50, 100, 90))
    history.send(90, 49.9, txn="t-7", producer_epoch=0)
    history.add("transactions", txn="t-7", initialized=0, begun=49.8, ending=50.1, ended=50.2, outcome="committed")
    assert asked(history) == []
    history.probes["writer"]["produce"] |= {"transaction": {"records": 10}, "config": {"transaction.timeout.ms": 5_000}}
    settings = {"topic": "orders", "to": "orders", "group": "g", "producer_config": {"transaction.timeout.ms": 80_000}}
    history.probes["billing"] = {"transform": settings}
    assert [(row["held_by"], row["outcome"]) for row in asked(history)] == [("t-7", "committed")]


def test_it_counts_from_the_transaction_whatever_faults_there_are(asked: Asked) -> None:
    """B10: faults until 80 s do not give a transaction more time than its own timeout and 30 s."""
    history = sampled((0, 150, 90))
    (fault,) = history.rows["faults"]
    history.rows["faults"].append(fault | {"fault": "late", "invoked": ns(40), "healed": ns(80)})
    assert [row["severity"] for row in asked(history)] == ["violation"]


def test_nobody_has_to_write_meanwhile(asked: Asked) -> None:
    """B10: the producer died, so the high watermark stays where it is: above the last stable offset."""
    assert [row["last_stable"] for row in asked(sampled((50, 150, 90), grows=False))] == [90]


def test_a_leader_that_was_deposed_holds_nothing(asked: Asked) -> None:
    """Near miss of B10: from 60 s on others name broker 2; broker 1 still answers as a leader with what it knows."""
    history = sampled((50, 190, 90))
    for second in range(60, 200):
        history.sample(second, leader=2, epoch=4)
    assert asked(history) == []


@pytest.mark.proves("stuck_lso", "near miss")
@pytest.mark.parametrize(
    "history",
    [
        sampled((50, 139, 90)),
        sampled((50, 120, 90), (120, 190, 95)),
        sampled((0, 90, 90)),
    ],
    ids=["not for so long", "two transactions", "under a fault"],
)
def test_ordinary_transactions_are_none(asked: Asked, history: History) -> None:
    """Near misses of B10."""
    assert asked(history) == []


def test_a_log_that_nobody_wrote_to_for_long_is_not_held(asked: Asked) -> None:
    """Near miss of B10: both ends stood at 100 for 150 s; then a transaction began there and ended within 10 s."""
    history = sampled((150, 160, 100))
    history.each(
        "offsets", lambda r: r | ({"high_watermark": 100, "last_stable": 100} if ns(0) <= r["at"] < ns(150) else {})
    )
    assert asked(history) == []


def test_a_longer_timeout_is_waited_for(asked: Asked) -> None:
    """B10: with ``transaction.timeout.ms`` 80 s, 99 s are not too long."""
    history = sampled((50, 150, 90))
    history.probes["writer"]["produce"] |= {
        "transaction": {"records": 10}, "config": {"transaction.timeout.ms": 80_000},
    }  # fmt: skip
    assert asked(history) == []


def test_an_applications_timeout_is_waited_for(asked: Asked) -> None:
    """B10: also of a probe that reads, writes and commits exactly once; the longest counts."""
    history = sampled((50, 150, 90))
    history.probes["writer"]["produce"] |= {"transaction": {"records": 10}, "config": {"transaction.timeout.ms": 1_000}}
    settings = {"topic": "orders", "to": "orders", "group": "g", "producer_config": {"transaction.timeout.ms": 80_000}}
    history.probes["billing"] = {"transform": settings}
    assert asked(history) == []


def test_only_transactions_have_a_timeout(asked: Asked) -> None:
    """B10: a short one of the only transactional producer counts, whatever consumers and other producers are there."""
    history = sampled((50, 100, 90))
    history.probes["plain"] = {"produce": {"topic": "orders", "rate": "1/s"}}
    assert asked(history) == []
    history.probes["writer"]["produce"] |= {"transaction": {"records": 10}, "config": {"transaction.timeout.ms": 5_000}}
    assert [row["severity"] for row in asked(history)] == ["violation"]


@pytest.mark.proves("stuck_lso", "no evidence")
def test_transactions_of_others_leave_it_open(asked: Asked) -> None:
    """B10 without the evidence: somebody else writes to the topic, and nobody knows with what timeout."""
    history = sampled((50, 150, 90))
    history.read(11, 19.9, producer=None, producer_incarnation=None, seq=None, intact=False)
    assert [row["severity"] for row in asked(history)] == ["unproven"]
    history.rows["reads"][-1]["partition"] = 1
    assert [row["severity"] for row in asked(history)] == ["violation"], "in another partition it holds nothing up here"


def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """Transactions that end, and samples without any."""
    assert not glances(tmp_path / "1", "stuck_lso", sampled((50, 120, 90)))
    assert not glances(tmp_path / "2", "stuck_lso", sampled())


def without_coordinator(history: History, *away: int, began: float = 60, ended: float = 175) -> History:
    """Two samples a second of three brokers, of which some do not answer while they are killed."""
    history.entry = {"name": "kill", "at": "60s", "kill_broker": {"target": "brokers(0, 2)"}, "for": "115s"}
    history.rows["faults"].clear()
    history.add("faults", fault="kill", step="kill_broker", targets="broker 0, broker 2", invoked=began,
                applied=began + 0.1, heal_invoked=ended - 2, healed=ended, took=True, undone=True)  # fmt: skip
    for half in range(400):
        for broker in range(3):
            at = half / 2
            gone = broker in away and began < at < ended
            answer = {"error": "no answer"} if gone else {"alive": [0, 1, 2], "controller": 0}
            history.rows["brokers"].append(
                dict.fromkeys(("controller", "alive", "error"))
                | {"asked": broker, "invoked": ns(at), "completed": ns(at + 0.01)} | answer
            )  # fmt: skip
    return history


def test_a_transaction_that_no_coordinator_could_abort_is_in_order(asked: Asked) -> None:
    """Near miss of B10: two of three brokers were down for 115 s; it was aborted 3 s after they were back."""
    assert asked(without_coordinator(sampled((55, 178, 90)), 0, 2)) == []


def test_a_transaction_that_is_held_after_the_coordinator_was_back_is_open(asked: Asked) -> None:
    """B10: the run ends 25 s after they were back, while it is held."""
    assert [row["severity"] for row in asked(without_coordinator(sampled((55, 200, 90)), 0, 2))] == ["unproven"]


@pytest.mark.parametrize(
    "history",
    [
        without_coordinator(sampled((55, 178, 90)), 0),
        without_coordinator(sampled((55, 199, 90)), 0, 2, ended=100),
        without_coordinator(sampled((5, 178, 90)), 0, 2, began=110),
    ],
    ids=["one broker away", "99 s beyond the heal", "105 s before the fault"],
)
def test_a_transaction_that_a_coordinator_had_time_to_abort_is_stuck(asked: Asked, history: History) -> None:
    """B10: two brokers suffice, or it is held for more than 90 s while the coordinator was there."""
    assert [row["severity"] for row in asked(history)] == ["violation"]
