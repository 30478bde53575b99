"""Windows of timeline entries, and which entries can be blamed. No Spark: a case is plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, ns

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.observed_settings import min_isr, unclean


def with_entry(folder: Path, step: str, **changed: Any) -> Case:
    """A run whose kill is over at 6 s, and in which an entry ``back`` that leaves nothing to undo took 8 to 12 s."""
    history = History(records=5)
    row = {"invoked": 8, "applied": 12, "heal_invoked": None, "healed": None, "took": True, "undone": True}
    history.add("faults", **({"fault": "back", "step": step, "targets": ""} | row | changed))
    history.record["entries"].append({"entry": "back", "status": "done"})
    return read_case(history.write(folder / "run"))


def window(case: Case, name: str) -> TimeSpan:
    """The one window of that name."""
    (found,) = [span for span in case.windows if span.name == name]
    return found


@pytest.mark.parametrize("step", ["wait", "restart_broker"])
def test_what_leaves_nothing_to_undo_has_the_window_of_all_that_it_took(tmp_path: Path, step: str) -> None:
    """From when it began until it was done; a fault that is undone from when it was verified until that was."""
    case = with_entry(tmp_path, step)
    assert window(case, "back") == TimeSpan("back", ns(8), ns(12))
    assert window(case, "kill") == TimeSpan("kill", ns(1.1), ns(6))


@pytest.mark.parametrize("step", ["wait", "observe"])
def test_a_wait_is_no_fault(tmp_path: Path, step: str) -> None:
    """Nothing that happens meanwhile is put down to it, and what follows the last heal begins where it did before."""
    case = with_entry(tmp_path, step)
    assert [fault.name for fault in case.faults] == ["kill"]
    assert case.overlapped(ns(9), ns(10)) == ()
    assert window(case, "after_heal") == TimeSpan("after_heal", ns(6), ns(20))


def test_a_restart_is_one(tmp_path: Path) -> None:
    """Near miss: it leaves nothing to undo either, and is to blame."""
    case = with_entry(tmp_path, "restart_broker")
    assert case.overlapped(ns(9), ns(10)) == ("back",)
    assert window(case, "after_heal") == TimeSpan("after_heal", ns(12), ns(20))


def test_a_fault_that_was_never_undone_lasts_until_the_end(tmp_path: Path) -> None:
    """Its window is open, whatever its kind."""
    case = with_entry(tmp_path, "pause_broker", undone=False)
    assert window(case, "back") == TimeSpan("back", ns(12), ns(20))


def test_what_was_decided_is_in_it_by_time(tmp_path: Path) -> None:
    """Who, when, what, about which entry; in the order in which it was decided."""
    history = History(records=5)
    for at, what, text in ((3, "skip", None), (2, "note", "the pager is quiet")):
        history.add("decisions", at=ns(at), wall=at, who="anna", what=what, entry="kill", text=text)
    case = read_case(history.write(tmp_path / "run"))
    assert [(one.at, one.who, one.what, one.entry, one.text) for one in case.decisions] == [
        (ns(2), "anna", "note", "kill", "the pager is quiet"), (ns(3), "anna", "skip", "kill", None),
    ]  # fmt: skip


def test_a_run_from_before_there_were_decisions_can_be_judged(tmp_path: Path) -> None:
    """Its directory lacks the table: nobody was asked."""
    rundir = History(records=5).write(tmp_path / "run")
    (rundir.events / "decisions.parquet").unlink()
    assert read_case(rundir).decisions == ()


def changed(folder: Path, config: dict[str, object], **entry: Any) -> Case:
    """A run whose topic had that configuration, and whose entry ``kill`` did something to the topic instead."""
    history = History(records=5)
    history.topic["config"] = config
    assert history.entry is not None
    history.entry = {"name": "kill", "at": "1s", **entry}
    return read_case(history.write(folder / "run"))


def with_config(folder: Path, planned: dict[str, object], **later: object) -> Case:
    """A run in which an entry set some of a topic's configuration."""
    return changed(folder, planned, set_topic_config={"topic": "orders", "config": later})


@pytest.mark.parametrize("value", [True, "true", False])
def test_an_unclean_election_was_allowed_for_a_moment(tmp_path: Path, value: object) -> None:
    """Whatever the topic itself says, what a step set counts from then on; and a false is none."""
    case = with_config(tmp_path, {"unclean.leader.election.enable": False}, **{"unclean.leader.election.enable": value})
    assert unclean(case, "orders") is (str(value).lower() == "true")
    assert not unclean(case, "other")


def test_an_unclean_election_that_a_step_asked_for_is_of_a_moment(tmp_path: Path) -> None:
    """It excuses what came of it from 1 s on, and not an election that nobody asked for, half a minute later."""
    asked = {"topic": "orders", "partition": 0, "election": "unclean"}
    case = changed(tmp_path, {}, elect_leader=asked)
    assert [unclean(case, "orders", TimeSpan("moment", ns(at), ns(at))) for at in (0, 2, 35)] == [False, True, False]


@pytest.mark.parametrize(("planned", "later", "least"), [(2, 1, 1), (2, 3, 2), (None, 2, 1), (2, "x", 1)])
def test_the_least_replicas_that_had_to_be_in_sync(
    tmp_path: Path, planned: int | None, later: object, least: int
) -> None:
    """The laxest of all that was set, and 1 where the topic itself says nothing."""
    config: dict[str, object] = {} if planned is None else {"min.insync.replicas": planned}
    assert min_isr(with_config(tmp_path, config, **{"min.insync.replicas": later}), "orders") == least


def test_what_brokers_reported_counts_and_not_what_the_scenario_says(tmp_path: Path) -> None:
    """An unclean election was allowed by the brokers' own settings from 2 s until it was reported forbidden at 9 s."""
    history = History(records=5)
    history.topic["config"] = {"unclean.leader.election.enable": False}
    for at, value in ((-5, "false"), (2, "true"), (9, "false")):
        history.add("topic_settings", at=at, name="unclean.leader.election.enable", value=value)
    case = read_case(history.write(tmp_path / "run"))
    spans = [TimeSpan("moment", ns(at), ns(at)) for at in (-4, 5, 15)]
    assert [unclean(case, "orders", span) for span in spans] == [False, True, False]
    assert unclean(case, "orders")


def test_partitions_that_were_added_are_the_topics(tmp_path: Path) -> None:
    """Where the step took: then the audit owes all of them. One that did not take leaves what the audit found."""
    case = changed(tmp_path, {}, create_partitions={"topic": "orders", "count": 4})
    assert case.topics["orders"].partitions == 4
    assert not case.whole("orders")
    history = History(records=5)
    history.entry = {"name": "kill", "at": "1s", "create_partitions": {"topic": "orders", "count": 4}}
    history.each("faults", lambda row: row | {"took": False})
    assert read_case(history.write(tmp_path / "two")).topics["orders"].partitions == 1
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=2, log_start=0, end=0, complete=True)
    assert read_case(history.write(tmp_path / "three")).topics["orders"].partitions == 3
