"""D12: which errors clients met, and whether the scenario named them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from analysis.conftest import Judge
from analysis.history import History, Row
from analysis.parted import in_parts, unasked

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.client_errors import ClientErrors, counted
from chaosk.analysis.events import Events
from chaosk.rundir.verdict import Outcome

pytestmark = [pytest.mark.spark, pytest.mark.long]
Figures = dict[tuple[str, str, str], float | None]


def figures(folder: Path, history: History) -> Figures:
    """By metric, probe and window; the same if the tables are read in parts."""
    events = Events(unasked, read_case(history.write(folder / "run")))
    with in_parts(events.rows) as parts:
        assert counted(events.rows) == counted(parts)
    return {(one.metric, one.subject, one.window): one.value for one in ClientErrors().measures(events, CheckRows())}


def refused() -> History:
    """The writer's connection breaks at 1.2 s and at 8 s, and a send of 2 s finds that the leader is another one."""
    history = History(records=50)
    for at in (1.2, 8.0):
        history.add("errors", probe="writer", incarnation=0, at=at, error="_TRANSPORT", message="refused", fatal=False)
    history.send(90, 2, completed=2.1, outcome="fail", offset=None, error="NOT_LEADER_FOR_PARTITION")
    return history


def expecting(**named: list[str]) -> Row:
    """What a scenario expects of the writer."""
    return {"errors": {"writer": named}}


def test_no_error_is_none(tmp_path: Path) -> None:
    """Of each probe in each window; where the scenario names none there is nothing to be unexpected."""
    found = figures(tmp_path, History(records=5))
    assert set(found.values()) == {0}
    assert {metric for metric, _, _ in found} == {"client_errors"}


@pytest.mark.proves("client_errors", "fires")
def test_errors_count_in_the_window_they_come_in(tmp_path: Path) -> None:
    """Two during the kill, one of them of a send, and one after the heal; the reader met none."""
    found = figures(tmp_path, refused())
    counts = [found["client_errors", "writer", window] for window in ("run", "baseline", "kill", "after_heal")]
    assert counts == [3, 0, 2, 1]
    assert found["client_errors", "reader", "run"] == 0


@pytest.mark.parametrize(
    ("named", "unexpected", "missing"),
    [
        ({"must": ["_TRANSPORT", "NOT_LEADER_FOR_PARTITION"]}, 0, 0),
        ({"must": ["NOT_LEADER_FOR_PARTITION"], "may": ["_TRANSPORT", "_RESOLVE"]}, 0, 0),
        ({"must": ["NOT_LEADER_FOR_PARTITION"]}, 2, 0),
        ({"must": ["_RESOLVE", "_STATE"], "may": ["_TRANSPORT"]}, 1, 2),
    ],
)
def test_exactly_these_and_no_other(tmp_path: Path, named: dict[str, list[str]], unexpected: int, missing: int) -> None:
    """What must come and did not is missing, by names; what is none of them is unexpected, by errors."""
    history = refused()
    history.expect = expecting(**named)
    found = figures(tmp_path, history)
    assert found["unexpected_errors", "writer", "run"] == unexpected
    assert found["missing_errors", "writer", "run"] == missing


@pytest.mark.proves("client_errors", "near miss")
def test_what_came_before_or_after_the_run_or_not_at_all_is_none(tmp_path: Path) -> None:
    """Near miss: an error of the warm-up, one while probes are told to end, and a send that was never answered."""
    history = History(records=5)
    for at in (-5.5, 20.5):
        history.add("errors", probe="writer", incarnation=0, at=at, error="_TRANSPORT", message="refused", fatal=False)
    history.send(90, 2, completed=None, outcome="info", offset=None, error="_PURGE_INFLIGHT")
    assert set(figures(tmp_path, history).values()) == {0}


def test_polls_commits_and_calls_meet_errors_too(tmp_path: Path) -> None:
    """C7: the commit that hits NOT_COORDINATOR; a poll that brought two at once counts for both."""
    history = History(records=5)
    history.expect = {"errors": {"reader": {"must": ["NOT_COORDINATOR", "_MAX_POLL_EXCEEDED"], "may": ["_STATE"]}}}
    history.commit(3, 2, outcome="fail", error="NOT_COORDINATOR")
    history.add("polls", poll=7, invoked=3, completed=3.1, error="_MAX_POLL_EXCEEDED,_STATE")
    history.worker("caller", kind="call")
    history.add("calls", began=3, completed=4, outcome="fail", error="_TIMED_OUT")
    found = figures(tmp_path, history)
    assert found["client_errors", "reader", "kill"] == 3
    assert found["client_errors", "caller", "kill"] == 1
    assert found["unexpected_errors", "reader", "run"] == found["missing_errors", "reader", "run"] == 0


def test_many_are_counted_the_same_in_parts(tmp_path: Path) -> None:
    """Errors of three names and two probes at random times, on the edges of windows, too."""
    draw, history = Random(1), History()  # noqa: S311 - a drawn story, no secret
    for _ in range(200):
        name, at = draw.choice(["_TRANSPORT", "_RESOLVE", "_STATE"]), draw.choice([-5, 0, 6, 20, draw.uniform(-6, 22)])
        history.add("errors", probe=draw.choice(["writer", "reader"]), incarnation=0, at=at, error=name, message="",
                    fatal=False)  # fmt: skip
    assert figures(tmp_path, history)["client_errors", "writer", "kill"]


@pytest.mark.parametrize(
    ("named", "outcome"),
    [(["_TRANSPORT", "NOT_LEADER_FOR_PARTITION"], Outcome.PASS), (["_TRANSPORT"], Outcome.DEGRADED)],
)
def test_a_run_is_judged_by_it(judge: Judge, named: list[str], outcome: Outcome) -> None:
    """Other errors than those that were named miss the objective."""
    history = refused()
    history.expect = expecting(must=named)
    verdict = judge(history)
    assert verdict.verdict is outcome
    assert {one.metric for one in verdict.objectives} == {"unexpected_errors", "missing_errors"}
