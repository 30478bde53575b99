"""D6: two brokers that lead the same partition at once, each in its own eyes, and what looks alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History
from analysis.leading import PERIOD, View, watched
from analysis.ways import finding, measure, told

from chaosk.rundir.verdict import Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = pytest.mark.spark


def history(until: float, *, silent: bool = False) -> History:
    """Broker 2 leads at epoch 4 from 5 s on; broker 1 says of itself that it does at epoch 3, until then."""

    def says(broker: int, at: float) -> View | None:
        if broker == 1 and silent and at >= 5:
            return None
        return (1, 3) if at < 5 or (broker == 1 and at < until) else (2, 4)

    return watched(History(records=250), says)


@pytest.mark.proves("two_leaders", "fires")
def test_a_deposed_leader_that_does_not_know_it(judge: Judge) -> None:
    """Nine seconds with two leaders: who, at which epochs, from when to when; an objective on it can be missed."""
    made = history(14)
    made.expect = {"two_leaders": {"orders": {"max": "2s"}}}
    verdict = judge(made)
    found = finding(verdict, "two_leaders")
    (row,) = found.evidence
    assert (found.severity, found.faults) == (Severity.INFORMATION, ("kill",))
    assert (row["topic"], row["partition"]) == ("orders", 0)
    assert (row["deposed"], row["deposed_epoch"], row["leader"], row["leader_epoch"]) == (1, 3, 2, 4)
    assert row["seconds"] == pytest.approx(9, abs=2 * PERIOD)
    assert measure(verdict, "two_leaders", "orders") == pytest.approx(9, abs=2 * PERIOD)
    assert measure(verdict, "two_leaders", "orders", "kill") == measure(verdict, "two_leaders", "orders")
    assert measure(verdict, "two_leaders", "orders", "baseline") == 0
    assert [one.met for one in verdict.objectives] == [False]


@pytest.mark.proves("two_leaders", "near miss")
@pytest.mark.parametrize(("until", "silent"), [(5, False), (5.8, False), (14, True)])
def test_news_of_an_election_travel(judge: Judge, until: float, *, silent: bool) -> None:
    """Near miss: the old leader hears of it at once, or within a second, or is dead and says nothing any more."""
    verdict = judge(history(until, silent=silent))
    assert told(verdict, "information").get("two_leaders") is None
    assert measure(verdict, "two_leaders", "orders") == 0


@pytest.mark.proves("two_leaders", "near miss")
def test_who_names_an_old_leader_does_not_lead(judge: Judge) -> None:
    """Near miss: broker 0, cut off, goes on naming broker 1; broker 1 itself knows better."""
    made = watched(History(records=250), lambda who, at: (1, 3) if at < 5 or (who == 0 and at < 14) else (2, 4))
    assert measure(judge(made), "two_leaders", "orders") == 0


@pytest.mark.proves("two_leaders", "no evidence")
def test_what_nobody_watched_has_no_figure(judge: Judge) -> None:
    """No broker answered from 2 s to 12 s: whether two led then nobody knows."""
    made = watched(History(records=250), lambda _who, at: None if 2 <= at < 12 else (1, 3))
    verdict = judge(made)
    assert measure(verdict, "two_leaders", "orders") is None
    assert measure(verdict, "two_leaders", "orders", "baseline") == 0
