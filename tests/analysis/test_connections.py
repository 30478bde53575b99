"""D9: how many connections clients opened and kept, by role and broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.history import History
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.connections import Connections
from chaosk.analysis.events import Events

pytestmark = pytest.mark.spark


def connected() -> History:
    """The writer opens three; one is closed at 1.5 s, two attempts fail, it is back at 6.5 s; one idles out at 8 s."""
    history = History(records=250)
    history.add("connections", role="bootstrap", broker=0, address="b0:1", at=-5.9, since=-5.95, seen=-5.7)
    for broker in (1, 2):
        history.add("connections", broker=broker, address=f"b{broker}:1", at=-5.5, since=-5.7, seen=-5.4)
    one = {"broker": 1, "address": "b1:1"}
    history.add("connections", **one, event="closed", at=None, since=1.5, seen=1.75)
    history.add("connections", **one, event="failed", count=2, at=None, since=1.75, seen=2.0)
    history.add("connections", **one, at=6.5, since=6.4, seen=6.65)
    history.add("connections", broker=2, address="b2:1", event="closed", at=8.0, since=7.9, seen=8.15, idle=True)
    return history


def figures(spark: SparkSession, folder: Path, history: History) -> dict[tuple[str, str], float | None]:
    """The writer's figures by metric and window."""
    events = Events(spark, read_case(history.write(folder / "figures")))
    found = Connections().measures(events, CheckRows())
    return {(m.metric.removeprefix("connections_"), m.window): m.value for m in found if m.subject == "writer"}


@pytest.mark.proves("connections", "fires")
def test_each_place_has_a_row(spark: SparkSession, tmp_path: Path) -> None:
    """Opened, closed, idle, failed and left of each, whatever the run made of it: information."""
    rows = asking(spark, tmp_path, "connections")(connected())
    names = ("role", "broker", "opened", "closed", "idle", "failed", "left")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("bootstrap", 0, 1, 0, 0, 0, 1),
        ("data", 1, 2, 1, 0, 2, 1),
        ("data", 2, 1, 1, 1, 0, 0),
    ]
    assert {row["severity"] for row in rows} == {"information"}


def test_figures_of_each_window(spark: SparkSession, tmp_path: Path) -> None:
    """Three are steady before the fault, two during it and after it, when one came back and one was closed as idle."""
    found = figures(spark, tmp_path, connected())
    assert {window: found["open", window] for window in ("baseline", "kill", "run")} == {
        "baseline": 3, "kill": 2, "run": 2
    }  # fmt: skip
    assert {window: found["peak", window] for window in ("baseline", "kill", "after_heal")} == {
        "baseline": 3, "kill": 3, "after_heal": 3
    }  # fmt: skip
    assert {window: found["opened", window] for window in ("baseline", "kill", "after_heal")} == {
        "baseline": 0, "kill": 0, "after_heal": 1
    }  # fmt: skip
    assert (found["failed", "kill"], found["failed", "baseline"]) == (2, 0)
    assert (found["idle_closed", "kill"], found["idle_closed", "after_heal"]) == (0, 1)


def test_a_new_process_begins_with_none(spark: SparkSession, tmp_path: Path) -> None:
    """What a killed process had is gone when its successor starts, and only the successor's are left."""
    history = connected()
    history.worker("writer", 1, started=12, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.add("connections", incarnation=1, role="bootstrap", broker=0, address="b0:1", at=13, since=12, seen=13.2)
    found = figures(spark, tmp_path, history)
    assert found["open", "run"] == 1
    rows = asking(spark, tmp_path, "connections")(history)
    assert [row["left"] for row in rows] == [1, 0, 0]


def test_a_connection_that_is_replaced_is_no_peak(spark: SparkSession, tmp_path: Path) -> None:
    """Closed and opened between two samples: there were never four."""
    history = connected()
    history.add(
        "connections", broker=0, role="bootstrap", address="b0:1", event="closed", at=None, since=0.5, seen=0.75
    )
    history.add("connections", broker=0, address="b0:1", at=0.6, since=0.5, seen=0.75)
    assert figures(spark, tmp_path, history)["peak", "run"] == 3


def test_nobody_watched(spark: SparkSession, tmp_path: Path) -> None:
    """Where no probe was asked to, there are neither rows nor figures."""
    assert asking(spark, tmp_path, "connections")(History(records=10)) == []
    assert figures(spark, tmp_path, History(records=10)) == {}
