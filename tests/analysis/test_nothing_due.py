"""A probe that had nothing to do in a window is not missed: a standby, an idle partition, a rare producer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.asking import another
from analysis.history import History, ns
from analysis.test_guards import progress_of
from analysis.transactional import piped

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.guards import guards
from chaosk.analysis.readers import readers


@pytest.fixture
def missed(tmp_path: Path) -> Any:
    """What the guards say of a history, if it is only that probes made no progress."""

    def guarded(history: History) -> list[str]:
        case = read_case(history.write(tmp_path / "run"))
        found = guards(case, progress_of(case, history))
        assert {guard.guard for guard in found} <= {"no_progress"}
        return [guard.what for guard in found]

    return guarded


def polling(history: History, probe: str, began: float = -5, ended: float = 20, incarnation: int = 0) -> None:
    """Empty polls of the probe, two a second."""
    for number in range(round((ended - began) * 2)):
        at = began + number / 2
        history.add("polls", probe=probe, incarnation=incarnation, poll=number, invoked=at, completed=at + 0.1)


def started(history: History, probe: str, settings: dict[str, Any], at: float = -5.95, **values: Any) -> None:
    """One more probe, which ends with the run."""
    history.probes[probe] = settings
    history.worker(probe, started=at, **values)
    history.record["probes"].append({"probe": probe, "incarnation": 0, "ended_by": "stop", "exit_status": 0})


def with_second(history: History, partition: int | None) -> History:
    """The history with one more member of the group, which polls, and owns a partition if one is named."""
    another(history)
    polling(history, "second")
    if partition is not None:
        history.add("assignments", probe="second", partition=partition, at=-5.9)
    return history


def test_a_standby_is_not_missed(missed: Any) -> None:
    """Two members of a group on a topic of one partition: the second one owns nothing, and polls."""
    assert missed(with_second(History(records=50), None)) == []


def test_a_standby_application_is_not_missed(missed: Any) -> None:
    """Two instances of an application that reads and writes exactly once, on a topic of one partition."""
    history = piped()
    started(history, "pipe2", {"transform": {"topic": "orders", "to": "invoices", "group": "pipes"}}, kind="transform",
            group="pipes", isolation="read_committed", commit="none", acks=-1, idempotent=True)  # fmt: skip
    polling(history, "pipe2")
    assert missed(history) == []


def test_the_owner_of_an_idle_partition_is_not_missed(missed: Any) -> None:
    """Two members, two partitions, and no producer writes to the second one."""
    assert missed(two_partitions()) == []


def two_partitions() -> History:
    """Partition 0 is written to, and read by the reader; another member owns partition 1."""
    history = History(records=50)
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=0, complete=True)
    return with_second(history, 1)


@pytest.mark.parametrize(("window", "at"), [("baseline", -4.0), ("after_heal", 8.0)])
def test_the_owner_of_a_partition_that_was_written_to_is_missed(missed: Any, window: str, at: float) -> None:
    """Near miss: one record was acknowledged in its partition, and it was not given it."""
    history = two_partitions()
    history.send(50, at, partition=1, offset=0)
    assert missed(history) == [f"second: not one record delivered in the window {window}"]


def test_what_was_written_before_a_partition_was_assigned_is_not_due_to_its_owner(missed: Any) -> None:
    """The second member owned the partition from 15 s on, and the only record came at 8 s: to another member."""
    history = two_partitions()
    history.change("assignments", {"probe": "second"}, at=ns(15))
    history.send(50, 8, partition=1, offset=0)
    assert missed(history) == []


def test_a_standby_that_does_not_poll_is_missed(missed: Any) -> None:
    """Near miss: it owns nothing, and nothing shows that it was there."""
    history = with_second(History(records=50), None)
    history.drop("polls", probe="second")
    assert "second: not one record delivered in the window baseline" in missed(history)


def test_a_group_that_was_given_nothing_is_missed(missed: Any) -> None:
    """Near miss: nobody wrote in the baseline, so that the group was not seen to work, whoever owned what."""
    history = with_second(History(records=50), None)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] >= ns(0)]
    assert missed(history) == [
        f"{who}: not one record delivered in the window baseline" for who in ("reader", "second")
    ]


def stopping() -> History:
    """An application that stops at the record at offset 14, which it fails to process at 2 s, as it is told to."""
    history = History(records=50)
    history.probes["reader"]["consume"] |= {"commit": "sync", "failing": {"every": 15, "handling": "stop"}}
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] <= 14]
    history.rows["polls"] = [row for row in history.rows["polls"] if row["completed"] < ns(2.05)]
    history.add("failures", n=14, offset=14, seq=14, at=2.012, handling="stop")
    history.commit(14, 2.02)
    history.add("assignments", kind="revoke", at=2.05, rebalance=1)
    return history


def test_an_application_that_stopped_as_it_is_told_to_is_not_missed(missed: Any, tmp_path: Path) -> None:
    """After the heal at 6 s it reads no more; it is owed nothing from the failure on."""
    assert missed(stopping()) == []
    (reader,) = readers(read_case(stopping().write(tmp_path / "owed")))
    assert reader.dismissed_at == ns(2.012)


def test_an_application_that_stopped_at_a_failure_that_it_is_to_swallow_is_missed(missed: Any) -> None:
    """Near miss: it was told to go on."""
    history = stopping()
    history.change("failures", {"offset": 14}, handling="swallow")
    assert missed(history) == ["reader: not one record delivered in the window after_heal"]


def test_an_application_that_stopped_after_the_window_is_missed(missed: Any) -> None:
    """Near miss: it was given nothing in the baseline already."""
    history = stopping()
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] >= ns(0)]
    assert missed(history) == ["reader: not one record delivered in the window baseline"]


def static(instance: str = "i1") -> History:
    """A static member whose ``group.instance.id`` another process takes at 7 s, before the heal."""
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, healed=ns(8))
    history.probes["reader"]["consume"] |= {"config": {"group.instance.id": "i1"}}
    settings = {"consume": {"topic": "orders", "group": "readers", "config": {"group.instance.id": instance}}}
    started(history, "second", settings, 7.1, kind="consume", group="readers", isolation="read_committed")
    history.rows["polls"] = [row for row in history.rows["polls"] if row["completed"] < ns(7.3)]
    for row in history.rows["reads"]:
        row["probe"] = "reader" if row["offset"] < 24 else "second"
    polling(history, "second", 7.3)
    history.add("errors", probe="reader", incarnation=0, at=7.4, error="FENCED_INSTANCE_ID", message="", fatal=True)
    return history


def test_a_static_member_that_was_replaced_is_not_missed(missed: Any) -> None:
    """It was told by a fatal error, and the process that has its ``group.instance.id`` reads on."""
    assert missed(static()) == []


def test_a_static_member_that_was_fenced_by_nobody_is_missed(missed: Any) -> None:
    """Near misses: the other member has an id of its own; or it was fenced as well."""
    words = "reader: not one record delivered in the window after_heal"
    assert missed(static("i2")) == [words]
    history = static()
    history.add("errors", probe="second", incarnation=0, at=12, error="FENCED_INSTANCE_ID", message="", fatal=True)
    assert missed(history) == [words]


def short_cut(lasted: float) -> History:
    """A producer of two records a second, and a fault just after one of them was due."""
    history = History(records=50)
    history.probes["writer"]["produce"]["rate"] = "2/s"
    history.entry = {"name": "kill", "at": "1s", "cut_network": {"target": "leader(orders, 0)"}, "for": "1s"}
    history.change("faults", {"fault": "kill"}, step="cut_network", invoked=ns(1.05), applied=ns(1.1),
                   heal_invoked=ns(1.05 + lasted), healed=ns(1.1 + lasted))  # fmt: skip
    return history


def test_a_short_fault_does_not_miss_a_slow_producer(missed: Any) -> None:
    """A cut of 0.35 s: the records before and after it were due at 1.0 s and 1.5 s."""
    assert missed(short_cut(0.35)) == []


def test_a_short_fault_misses_a_producer_that_had_a_record_due(missed: Any) -> None:
    """Near miss: nothing was sent within a second of the cut."""
    history = short_cut(0.35)
    history.rows["sends"] = [row for row in history.rows["sends"] if not ns(1.05) < row["scheduled"] < ns(2.2)]
    assert missed(history) == ["writer: not one send attempted in the window kill"]


def rare(history: History, rate: str) -> History:
    """The history with one more producer, which sends one record as it starts."""
    started(history, "rare", {"produce": {"topic": "orders", "rate": rate}}, kind="produce", acks=-1, idempotent=True)
    history.send(0, -5.5, probe="rare", offset=50)
    return history


def test_a_producer_of_a_record_a_minute_is_not_missed_in_seconds(missed: Any) -> None:
    """No record was due in the baseline, in the fault of 4 s, and in 14 s after it; another producer wrote."""
    assert missed(rare(History(records=50), "1/m")) == []


def test_a_producer_that_had_a_record_due_is_missed(missed: Any) -> None:
    """Near miss: of one record in 5 s one is due in the baseline and after the heal, but perhaps not in the fault."""
    assert missed(rare(History(records=50), "0.2/s")) == [
        f"rare: not one record acknowledged in the window {window}" for window in ("baseline", "after_heal")
    ]


def test_a_producer_of_a_record_a_minute_alone_has_tested_nothing(missed: Any) -> None:
    """Near miss: no record was due in the baseline, and there is no other producer."""
    history = History(records=50)
    history.probes["writer"]["produce"]["rate"] = "1/m"
    history.rows["sends"] = [row for row in history.rows["sends"] if row["scheduled"] >= ns(0)]
    assert missed(history) == ["writer: not one record acknowledged in the window baseline"]


def restarted(back: float) -> History:
    """A reader that is killed at 8.1 s and started again; it polls from 9.96 s on."""
    history = History(records=50)
    history.rows["polls"] = [row for row in history.rows["polls"] if not ns(7.9) < row["completed"] < ns(9.9)]
    history.worker("reader", 1, back, kind="consume", group="readers", isolation="read_committed", commit="sync")
    history.rows["ends"] = [row for row in history.rows["ends"] if row["probe"] != "reader" or row["incarnation"]]
    history.record["probes"] = [
        {"probe": "writer", "incarnation": 0, "ended_by": "stop", "exit_status": 0},
        {"probe": "reader", "incarnation": 0, "ended_by": "step", "exit_status": -9},
        {"probe": "reader", "incarnation": 1, "ended_by": "stop", "exit_status": 0},
    ]
    for row in history.rows["reads"]:
        row["incarnation"] = int(row["offset"] >= 26)
    history.beside = [{"name": "killp", "at": "8s", "kill_probe": {"probe": "reader"}, "for": "1s"}]
    history.record["entries"].append({"entry": "killp", "status": "done"})
    history.add("faults", fault="killp", step="kill_probe", targets="reader", invoked=8.0, applied=8.1,
                heal_invoked=9.8, healed=9.9, took=True, undone=True)  # fmt: skip
    return history


def test_a_process_that_has_just_started_is_not_missed(missed: Any) -> None:
    """It was ready at 9.85 s, which ends the fault at 9.9 s, and polls from 9.96 s on: it initialized its id first."""
    assert missed(restarted(9.85)) == []


def test_a_process_that_started_a_second_ago_is_missed(missed: Any) -> None:
    """Near miss: it was ready 1.2 s before the end of the fault."""
    assert missed(restarted(8.7)) == ["reader: not one poll or commit under way in the window killp"]
