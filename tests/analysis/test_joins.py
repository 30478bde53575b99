"""D7, stages of joining: what each took, and the longest of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from analysis.history import History
from analysis.ways import finding, measure, told

from chaosk.rundir.verdict import Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge


def joined(history: History, began: float | None, **values: Any) -> None:
    """The reader joined at ``began``: half a second each for coordinator, partitions, offsets and a record."""
    start = began if began is not None else values["assigned"]
    usual = {"coordinator": start + 0.5, "assigned": start + 1, "fetched": start + 1.5, "first": start + 2}
    who = {"probe": "reader", "incarnation": 0, "group": "readers", "rebalance": 0, "partitions": 1}
    history.add("joins", **(who | {"began": began} | usual | values))


@pytest.mark.spark
@pytest.mark.proves("joins", "fires")
def test_each_join_is_told_in_stages(judge: Judge) -> None:
    """Four stages of half a second; the longest join of a window is its figure, and nothing is wrong with it."""
    history = History(records=50)
    joined(history, -4.0)
    joined(history, 2.0, rebalance=1, coordinator=-3.5, assigned=5, fetched=5.25, first=5.5)
    verdict = judge(history)
    assert told(verdict) == {}
    found = finding(verdict, "joins")
    assert (found.severity, found.count) == (Severity.INFORMATION, 2)
    names = ("coordinator", "assignment", "offsets", "record", "total")
    assert [[row[name] for name in names] for row in found.evidence] == [
        [0.5, 0.5, 0.5, 0.5, 2],
        [0, 3, 0.25, 0.25, 3.5],
    ]
    assert measure(verdict, "join_time", "readers") == 3.5
    assert measure(verdict, "assignment_time", "readers") == 3
    assert measure(verdict, "join_time", "readers", "baseline") == 2
    assert measure(verdict, "assignment_time", "readers", "baseline") == 1


@pytest.mark.spark
def test_a_stage_that_nobody_knows_is_empty(judge: Judge) -> None:
    """Without statistics the way to the partitions is one stage; without a record there is no whole.

    Where nobody knows when the offsets were there, their time is in that of the first record.
    """
    history = History(records=50)
    joined(history, -4.0, coordinator=None, fetched=None, first=None)
    joined(history, None, rebalance=1, assigned=6, coordinator=None, fetched=6.5, first=7)
    joined(history, 8.0, rebalance=2, fetched=None)
    verdict = judge(history)
    rows = finding(verdict, "joins").evidence
    names = ("coordinator", "assignment", "offsets", "record", "total")
    assert [[row[name] for name in names] for row in rows] == [
        [None, 1, None, None, None],
        [None, 0, 0.5, 0.5, 1],
        [0.5, 0.5, None, 1, 2],
    ]
    assert measure(verdict, "assignment_time", "readers") == 1
    assert measure(verdict, "join_time", "readers") == 2
