"""Every check's glance promises that a run in which all went well has no rows: such runs cost no query."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from analysis.asking import another, passed_on, reads_of
from analysis.history import History, Row
from analysis.transactional import piped, successor, transactional

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.glances.rows import EventRows

GLANCING = sorted(name for name, kind in checks().items() if kind.glance is not Check.glance)


def shared() -> History:
    """Two members, commits of each kind, leaders' epochs along the log, and a partition that is passed on."""
    history = History(records=50)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 4 if row["offset"] >= 25 else 3})
    another(history)
    for offset, kind in ((5, "sync"), (10, "auto"), (20, "async")):
        history.commit(offset, -4 + offset / 2, kind=kind)
    history.commit(24, 6.6)
    passed_on(history, 6.7, 24, probe="second", incarnation=0)
    reads_of(history, 24, probe="second")
    history.commit(30, 10.0, probe="second")
    return history


def failing() -> History:
    """Records that were refused, one that may be there, one without an offset, and a transaction that was aborted."""
    history = transactional()
    history.change("transactions", {"txn": "t-1"}, outcome="aborted")
    for seq in range(10, 20):
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq, isolation="read_committed")
    history.change("sends", {"seq": 45}, offset=None)
    history.change("sends", {"seq": 12}, outcome="info", offset=None)
    history.change("sends", {"seq": 30}, outcome="fail", offset=None)
    history.drop("reads", offset=30)
    history.drop("audit", offset=30)
    return history


def piped_from_two() -> History:
    """The application reads five records of partition 2, too, at offsets beyond the end of partition 0."""
    history = piped()
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", partition=2, isolation=isolation, log_start=0, end=-1, complete=True)
    for probe, group in (("reader", "readers"), ("pipe", "pipes")):
        history.add("assignments", at=-5.9, probe=probe, group=group, partition=2)
    history.add("groups", group="pipes", partition=2, offset=105)
    for number in range(5):
        history.flow(60 + number, 19.9 + number / 1000, offset=100 + number, partition=2)
        who: Row = {"probe": "pipe", "partition": 2, "offset": 100 + number}
        history.add("outputs", **who, incarnation=0, seq=90 + number, topic="orders", at=20.1)
        history.read(at=20.1, **who, group="pipes", txn="p-9", poll=300 + number, seq=60 + number)
        history.send(90 + number, 20.11, probe="pipe", partition=1, txn="p-9", producer_epoch=0, offset=50 + number)
        history.audit(50 + number, producer="pipe", partition=1, seq=90 + number)
    history.add("transactions", probe="pipe", txn="p-9", transactional_id="pipe", initialized=-5.9, begun=20.1,
                ending=20.2, ended=20.21, outcome="committed")  # fmt: skip
    return history


def taken_over() -> History:
    """One client in transactions after the other, and then one that writes without any."""
    history = transactional()
    successor(history, 0, 20.4, 50)
    history.probes["plain"] = {"produce": {"topic": "orders", "rate": "1/s"}}
    history.worker("plain", kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.flow(0, 20.8, offset=51, probe="plain")
    history.change("reads", {"offset": 51}, producer="plain")
    history.each("audit", lambda row: row | ({"producer": "plain"} if row["offset"] == 51 else {}))
    return history


def all_aborted() -> History:
    """The only transaction was aborted, and its records were shown to nobody who is careful."""
    history = History(records=50)
    for seq in (20, 21):
        history.change("sends", {"seq": seq}, txn="t")
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq, isolation="read_committed")
    history.add("transactions", txn="t", initialized=-5.5, begun=4.9, ending=5.6, ended=5.7, outcome="aborted")
    return history


def told_its_ends() -> History:
    """A leader said where its log ends, one past the last record, or that it cannot say so yet."""
    history = History(records=50)
    for number in range(50):
        at, end = -4.9 + number / 2, None if number == 30 else number + 1
        history.add("partitions", at=at, asked=1, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[0, 1, 2])
        history.add("offsets", at=at + 0.01, asked=1, leader=True, log_start=0, high_watermark=end, log_end=end)
    return history


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[EventRows]:
    """What glances see of runs in which all went well."""
    made: list[Callable[[], History]] = [
        History,
        lambda: History(records=50),
        transactional,
        piped,
        piped_from_two,
        shared,
        failing,
        taken_over,
        all_aborted,
        told_its_ends,
    ]
    folder = tmp_path_factory.mktemp("runs")
    return [EventRows(read_case(make().write(folder / str(place)))) for place, make in enumerate(made)]


@pytest.mark.parametrize("name", GLANCING)
def test_a_run_in_which_all_went_well_is_cleared_at_a_glance(name: str, runs: list[EventRows]) -> None:
    """Plain, in transactions, transformed, shared by two members, with records that were refused, and so on."""
    assert [checks()[name]().glance(rows) for rows in runs] == [False] * len(runs)
