"""The guard that compares the plan with what the watcher saw first: another experiment proves nothing of this one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, Row

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.plan_guards import plan_contradicted


def contradictions(history: History, root: Path) -> list[str]:
    """What the guard says of a history."""
    return [guard.what for guard in plan_contradicted(read_case(history.write(root / "run")))]


def settings(history: History, at: float = -6, **values: object) -> History:
    """What a broker reported of the topic at a moment."""
    for name, value in values.items():
        history.add("topic_settings", at=at, name=name.replace("_", "."), value=str(value))
    return history


def entry(history: History, at: float, **step: Row) -> History:
    """One more entry ``change`` of the timeline, which acted at that time."""
    (kind,) = step
    history.beside.append({"name": "change", "at": "9s", **step})
    history.record["entries"].append({"entry": "change", "status": "done"})
    history.add("faults", fault="change", step=kind, targets="orders", invoked=at, applied=at + 0.1, took=True,
                undone=True)  # fmt: skip
    return history


def test_a_run_as_it_was_planned_contradicts_nothing(tmp_path: Path) -> None:
    """Three replicas, one partition, and the settings of the plan, with others that it does not name."""
    history = settings(History(), min_insync_replicas=2, cleanup_policy="delete", retention_ms=604_800_000)
    assert contradictions(history, tmp_path) == []


def test_another_number_of_replicas(tmp_path: Path) -> None:
    """The plan's replication factor is 3, and the only partition had one replica."""
    history = History()
    history.each("partitions", lambda row: row | {"replicas": [1], "isr": [1]})
    (what,) = contradictions(history, tmp_path)
    assert what.startswith("orders-0 had a replication factor of 1, and the plan sets 3")


def test_more_partitions_than_planned(tmp_path: Path) -> None:
    """The plan has one partition, and the watcher saw two from the begin; the tail audit tells of missing ones."""
    history = History()
    history.rows["partitions"] += [row | {"partition": 1} for row in history.rows["partitions"]]
    (what,) = contradictions(history, tmp_path)
    assert what.startswith("orders had 2 partitions, and the plan has 1")


@pytest.mark.parametrize(
    ("planned", "reported", "same"),
    [
        (2, "1", False), (2, "2", True), ("2", "2", True), (True, "true", True), (True, "false", False),
        ("TRUE", "true", True), (0.5, "0.50", True), ("compact,delete", "delete,compact", True),
        ("compact, delete", "compact,delete", True), ("compact", "delete", False),
    ],
)  # fmt: skip
def test_a_value_may_be_spelled_in_another_way(tmp_path: Path, planned: Any, reported: str, *, same: bool) -> None:
    """A number is the same number, yes is yes, and policies have no order."""
    history = History()
    history.topic["config"] = {"a.setting": planned}
    history.add("topic_settings", at=-6, name="a.setting", value=reported)
    assert (contradictions(history, tmp_path) == []) is same


def test_an_entry_may_change_settings_replicas_and_partitions(tmp_path: Path) -> None:
    """What was seen from its start on is not compared."""
    set_topic_config = {"topic": "orders", "config": {"min.insync.replicas": 1}}
    changed = settings(entry(History(), 3, set_topic_config=set_topic_config), 3.5, min_insync_replicas=1)
    assert contradictions(changed, tmp_path) == []
    grown = entry(History(), 3, create_partitions={"topic": "orders", "count": 2})
    grown.rows["partitions"] += [row | {"partition": 1} for row in grown.rows["partitions"] if row["at"] > 1e12 + 4e9]
    assert contradictions(grown, tmp_path) == []
    moved = entry(History(), -5.9, reassign_partitions={"topic": "orders", "replicas": ["broker 0", "broker 1"]})
    moved.rows["partitions"] = [row | {"replicas": [0, 1]} for row in moved.rows["partitions"] if row["at"] > 1e12]
    assert contradictions(moved, tmp_path) == []


def test_an_entry_of_another_topic_changes_nothing(tmp_path: Path) -> None:
    """The plan contradicts what a broker reported first, whatever was set later."""
    history = entry(History(), 3, set_topic_config={"topic": "orders", "config": {"min.insync.replicas": 1}})
    assert len(contradictions(settings(history, -6, min_insync_replicas=1), tmp_path)) == 1


def test_a_setting_that_a_broker_takes_over_late_counts_from_the_baseline_on(tmp_path: Path) -> None:
    """A broker may describe a new topic before it knows its settings; the run is judged from -5 s on."""
    history = settings(settings(History(), -6, min_insync_replicas=1), -5.4, min_insync_replicas=2)
    assert contradictions(history, tmp_path) == []
