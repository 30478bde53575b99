"""One check asked by itself, which costs a tenth of judging a run; and what histories of groups have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.history import History, Row
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.screens import screened
from chaosk.analysis.spark import tune

Asked = Callable[..., list[Row]]


def asking(spark: SparkSession, folder: Path, name: str) -> Asked:
    """Asks a history the one check: its rows, the same with and without Spark, and none that was ruled out before.

    The session is set as the analysis sets it for small runs, whatever was judged before.
    """
    numbers = iter(range(100))
    tune(spark, small=True)

    def asked(history: History) -> list[Row]:
        events = Events(spark, read_case(history.write(folder / f"run{next(numbers)}")))
        check = checks()[name]()
        frame, few = check.violations(events), check.plain(events)
        rows = [] if frame is None else [row.asDict(recursive=True) for row in frame.orderBy(*check.order).collect()]
        ruled_out = check.screens and not any(events.once(screened)[screen] for screen in check.screens)
        events.release()
        if few is not None:
            plain = sorted(few, key=lambda row: [row[name] for name in check.order])
            assert frame is None or rows == plain, "Spark and numpy disagree"
            rows = plain
        assert check.glance(events.rows) or not rows, "the glance promised that there are no rows"
        assert not (ruled_out and rows), "the screens promised that there are no rows"
        return rows

    return asked


def glances(folder: Path, name: str, history: History) -> bool:
    """What the check's glance says of a history."""
    return checks()[name]().glance(EventRows(read_case(history.write(folder / "glanced"))))


def another(history: History, probe: str = "second", *, started: float = -5.95, **settings: Any) -> None:
    """One more member of the group."""
    history.probes[probe] = {"consume": {"topic": "orders", "group": "readers"}}
    history.record["probes"].append({"probe": probe, "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    usual: Row = {"kind": "consume", "group": "readers", "isolation": "read_committed", "commit": "sync"}
    history.worker(probe, started=started, **(usual | settings))


def passed_on(history: History, at: float, found: int | None, *, how: str | None = "revoke", **who: Any) -> None:
    """The reader's partition goes to ``who`` (its second process, unless told) at ``at`` + 0.2 s, who finds ``found``.

    ``how`` it is taken from the first one at ``at``; None if nobody wrote that down.
    """
    new: Row = {"probe": "reader", "incarnation": 1} | who
    if new["probe"] == "reader":
        usual: Row = {"kind": "consume", "group": "readers", "isolation": "read_committed", "commit": "sync"}
        history.worker("reader", new["incarnation"], started=at + 0.1, **usual)
    if how:
        history.add("assignments", at=at, kind=how)
    history.add("assignments", at=at + 0.2, **new)
    history.add("fetched", offset=found, invoked=at + 0.21, completed=at + 0.22, **new)


def reads_of(history: History, first: int, **who: Any) -> None:
    """Records from ``first`` on were read by ``who`` instead."""
    history.each("reads", lambda row: row | (who if row["offset"] >= first else {}))
