"""D3: the share of seconds with demand in which something was acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History, ns
from analysis.parted import in_parts, unasked

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.availability import Availability, seconds
from chaosk.analysis.events import Events

Windows = dict[str, float | None]


def availability(folder: Path, history: History) -> Windows:
    """The writer's share of each window, the same if the table is read in parts."""
    events = Events(unasked, read_case(history.write(folder / "run")))
    with in_parts(events.rows) as parts:
        assert seconds(events.rows) == seconds(parts)
    return {measure.window: measure.value for measure in Availability().measures(events, CheckRows())}


def test_all_is_well(tmp_path: Path) -> None:
    """Ten records a second, each acknowledged at once: all of every window."""
    found = availability(tmp_path, History(records=250))
    assert found == {"run": 1.0, "baseline": 1.0, "kill": 1.0, "after_heal": 1.0}


@pytest.mark.proves("availability", "fires")
def test_seconds_in_which_nothing_is_acknowledged_count(tmp_path: Path) -> None:
    """What was due from 1.1 s to 4.6 s is acknowledged at 4.6 s only: of 25 seconds, the one from 2 s on is without.

    What was due from 3.6 s on was acknowledged within a second, so the second from 3 s on counts as available.
    """
    history = History(records=250)
    history.each("sends", lambda row: row | ({"completed": ns(4.6)} if ns(1.1) <= row["scheduled"] < ns(4.6) else {}))
    found = availability(tmp_path, history)
    assert found["run"] == pytest.approx(1 - 1 / 25)
    assert found["kill"] == pytest.approx(1 - 1 / 5)
    assert found["baseline"] == 1.0


def test_seconds_without_demand_do_not_count(tmp_path: Path) -> None:
    """Nothing was due in most of the run: what was due was acknowledged; a window without demand has no figure."""
    history = History()
    history.send(0, -3.0)
    history.send(1, 10.995, completed=11.2)
    found = availability(tmp_path, history)
    assert (found["run"], found["kill"], found["after_heal"]) == (1.0, None, 1.0)


def test_what_has_no_outcome_waits_until_the_end(tmp_path: Path) -> None:
    """One record is acknowledged, and one sent at 10.5 s never gets an outcome; failures are no acknowledgements."""
    history = History()
    history.send(0, 0.5)
    history.send(1, 10.5, completed=None, outcome="info", offset=None)
    history.send(2, 1.5, completed=1.6, outcome="fail", offset=None)
    found = availability(tmp_path, history)
    assert found["run"] == pytest.approx(1 / 12)  # 0 s, 1 s, and 10 s to 19 s
    assert found["after_heal"] == 0.0


def test_each_producer_has_its_own(tmp_path: Path) -> None:
    """What another probe had acknowledged helps nobody."""
    history = History(records=250)
    history.worker("other", kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.send(0, 2.5, probe="other", outcome="fail", offset=None)
    events = Events(unasked, read_case(history.write(tmp_path / "run")))
    found = {(m.subject, m.window): m.value for m in Availability().measures(events, CheckRows())}
    assert (found["writer", "run"], found["other", "run"], found["other", "baseline"]) == (1.0, 0.0, None)
