"""B10: last stable offsets that stay although the log grows."""

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

pytestmark = pytest.mark.spark


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


@pytest.mark.parametrize(("last", "stuck"), [(40, True), (70, False)])
def test_of_many_faults_the_last_that_overlaps_counts(asked: Asked, last: int, *, stuck: bool) -> None:
    """B10: a long run has a fault a minute; thirty of them are asked about in one breath."""
    history = sampled((0, 150, 90))
    (fault,) = history.rows["faults"]
    for number in range(30):
        over = {"fault": f"fault{number}", "invoked": ns(10 + number), "healed": ns(last - number)}
        history.rows["faults"].append(fault | over)
    assert bool(asked(history)) is stuck


@pytest.mark.proves("stuck_lso", "near miss")
@pytest.mark.parametrize(
    "history",
    [
        sampled((50, 139, 90)),
        sampled((50, 120, 90), (120, 190, 95)),
        sampled((0, 95, 90)),
        sampled((50, 150, 90), grows=False),
    ],
    ids=["not for so long", "two transactions", "the fault was over at 6 s", "nobody writes"],
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
