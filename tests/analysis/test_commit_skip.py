"""B3: from which position on a group is owed what it commits past."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking, passed_on
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.ways import told
from pyspark.sql import SparkSession

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark


@pytest.mark.proves("commit_skip", "near miss")
def test_the_record_at_the_position_it_began_at_is_owed(spark: SparkSession, tmp_path: Path) -> None:
    """Offset 0 was never given: no skip of a group that found 1, and one of a group that found 0 or nothing."""
    asked = asking(spark, tmp_path, "commit_skip")
    history = History(records=50)
    history.drop("reads", offset=0)
    history.commit(50, 20.4)
    for found, skipped in ((1, []), (0, [(0, "violation")]), (None, [(0, "violation")])):
        history.change("fetched", {}, offset=found)
        assert [(row["offset"], row["severity"]) for row in asked(history)] == skipped, found


@pytest.mark.proves("commit_skip", "no evidence")
def test_a_member_that_sought_leaves_it_open(spark: SparkSession, tmp_path: Path) -> None:
    """B3 without the evidence: offset 21 was never given, but a member chose its own place in that partition."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.commit(50, 20.4)
    history.add("seeks", offset=22, at=5.7)
    rows = asking(spark, tmp_path, "commit_skip")(history)
    assert [(row["offset"], row["severity"]) for row in rows] == [(21, "unproven")]


def killed(found: int | None) -> History:
    """A member with automatic commits has read up to 22 and is killed at 6.25 s; the next process finds ``found``.

    Without a next process, the cluster reports in the end that 50 is committed.
    """
    history = History(records=50)
    history.probes["reader"]["consume"]["commit"] = "automatic"
    history.change("incarnations", {"probe": "reader"}, commit="automatic")
    history.commit(22, 6.05, kind="auto")
    history.beside.append({"name": "murder", "at": "6.2s", "kill_probe": {"probe": "reader"}})
    history.record["entries"].append({"entry": "murder", "status": "done"})
    history.add("faults", fault="murder", step="kill_probe", targets="probe reader", invoked=6.2, applied=6.25,
                took=True, undone=True)  # fmt: skip
    history.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    history.drop("ends", probe="reader")
    for offset in range(23, 50 if found is None else found):
        history.drop("reads", offset=offset)
    history.add("groups", offset=50)
    if found is None:
        history.rows["polls"] = [row for row in history.rows["polls"] if row["invoked"] < ns(6.2)]
        return history
    restart = -5 + found / 2
    history.beside.append({"name": "again", "at": f"{restart:.1f}s", "start_probe": {"probe": "reader"}})
    history.record["entries"].append({"entry": "again", "status": "done"})
    history.add("faults", fault="again", step="start_probe", targets="probe reader", invoked=restart - 0.5,
                applied=restart, took=True, undone=True)  # fmt: skip
    history.record["probes"].append({"probe": "reader", "incarnation": 1, "ended_by": "stop", "exit_status": 0})
    passed_on(history, restart, found, how=None)
    history.change("incarnations", {"probe": "reader", "incarnation": 1}, commit="automatic")
    later = {"incarnation": 1}
    history.each(
        "reads", lambda row: row | (later | {"at": max(row["at"], ns(restart + 0.3))} if row["offset"] >= found else {})
    )
    history.each("polls", lambda row: row | (later if row["invoked"] >= ns(restart) else {}))
    history.rows["polls"] = [row for row in history.rows["polls"] if not ns(6.2) <= row["invoked"] < ns(restart)]
    history.commit(50, 20.5, kind="auto", incarnation=1)
    return history


def test_a_killed_process_commits_nothing_that_was_sent_after_its_end(judge: Judge) -> None:
    """B3 and A5: 40 was committed when the next process came, and 23 to 39 were sent after the kill."""
    verdict = judge(killed(40))
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict, "violation") == {"unseen": 17, "commit_skip": 17}


def test_a_killed_process_that_no_other_follows_commits_nothing_that_was_sent_after_its_end(judge: Judge) -> None:
    """B3: 50 is committed in the end; whoever comes next will not be given 23 to 49."""
    verdict = judge(killed(None))
    assert told(verdict, "violation") == {"commit_skip": 27}
    assert "foreign_commit" in {guard.guard for guard in verdict.guards}


def test_automatic_commits_may_run_ahead_of_a_kill(judge: Judge) -> None:
    """Near miss: 23 was sent just before the kill, and the next process finds 24."""
    history = killed(24)
    early = {"scheduled": ns(6.1), "invoked": ns(6.1), "completed": ns(6.105)}
    history.change("sends", {"seq": 23}, **early)
    verdict = judge(history)
    assert (verdict.verdict, told(verdict, "violation")) == (Outcome.PASS, {})
    assert told(verdict, "allowed") == {"commit_skip": 1}


def test_a_copy_that_was_passed_over_is_seen_as_well(spark: SparkSession, tmp_path: Path) -> None:
    """Record 20 stands at 50, too, which nobody was given: that the group had it at 20 clears nobody of a skip."""
    history = History(records=50)
    history.audit(50, seq=20)
    history.send(51, 20.1)
    history.audit(51)
    history.commit(51, 20.2)
    passed_on(history, 20.3, 51)
    history.read(51, 20.6, incarnation=1)
    rows = asking(spark, tmp_path, "commit_skip")(history)
    assert [(row["offset"], row["seq"], row["severity"]) for row in rows] == [(50, 20, "violation")]
