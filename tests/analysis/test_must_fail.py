"""C6: a client that is meant to fail, whose success is what is wrong then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analysis.asking import Asked, asking
from analysis.history import History, ns
from analysis.ways import finding, guards, told

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.must_fail_windows import MustFailWindow, failing
from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession


def meant(how: Any, probe: str = "writer", *, fails: tuple[float, float] | None = None) -> History:
    """A hundred records, of a probe that is to fail; none that was sent in ``fails`` was acknowledged or is there."""
    history = History(records=100)
    for kind in history.probes[probe].values():
        kind["must_fail"] = how
    if fails is not None:
        began, ended = (ns(each) for each in fails)
        gone = {row["seq"] for row in history.rows["sends"] if began <= row["invoked"] < ended}
        history.each("sends", lambda row: row | ({"outcome": "fail", "offset": None} if row["seq"] in gone else {}))
        for table in ("reads", "audit"):
            history.rows[table] = [row for row in history.rows[table] if row["seq"] not in gone]
    return history


@pytest.fixture(name="asked")
def _asked(spark: SparkSession, tmp_path: Path) -> Asked:
    return asking(spark, tmp_path, "must_fail")


@pytest.mark.proves("must_fail", "fires")
@pytest.mark.spark
def test_a_client_that_must_fail_and_does_not_is_a_violation(asked: Asked) -> None:
    """From a second after the broker was killed on, every send of it that was acknowledged is one too many."""
    history = meant({"after": {"entry": "kill", "is": "applied", "delay": "1s"}})
    (row,) = asked(history)
    assert (row["severity"], row["probe"], row["what"]) == ("violation", "writer", "sends")
    assert row["attempts"] > row["successes"] > 0
    assert row["first"] >= ns(2)


@pytest.mark.proves("must_fail", "near miss")
@pytest.mark.spark
def test_a_client_that_fails_as_it_must_passes(judge: Judge) -> None:
    """Near miss: all fails from the kill on to the run's end, and nobody misses the progress that it does not make."""
    verdict = judge(meant({"after": {"entry": "kill", "is": "applied", "delay": "1s"}}, fails=(1, 21)))
    assert told(verdict) == {}
    assert guards(verdict) == {"no_progress"}, "the reader's, which had nothing to read"
    assert all(guard.what.startswith("reader: ") for guard in verdict.guards)


@pytest.mark.spark
def test_a_success_of_who_must_fail_is_found(judge: Judge) -> None:
    """As a violation of C6, which can be predicted by its name like any other."""
    how = {"after": {"entry": "kill", "is": "applied", "delay": "1s"}}
    verdict = judge(meant(how))
    assert (verdict.verdict, finding(verdict, "must_fail").rule) == (Outcome.VIOLATION, "C6")


@pytest.mark.spark
def test_a_client_that_was_fenced_as_it_ended_its_last_transaction_has_shown_it(asked: Asked) -> None:
    """It is over by that, and tries nothing more: what it was told so by is the attempt that came to nothing."""
    history = meant("fenced")
    history.rows["sends"] = [row for row in history.rows["sends"] if row["invoked"] < ns(5)]
    history.add("transactions", txn="t-1", initialized=-5.9, begun=4.9, ending=5.5, ended=6.0, outcome="aborted")
    history.add("errors", probe="writer", incarnation=0, at=6.0, error="_FENCED", message="fenced", fatal=True)
    assert asked(history) == []


@pytest.mark.proves("must_fail", "no evidence")
@pytest.mark.spark
def test_a_client_that_tried_nothing_shows_nothing(asked: Asked) -> None:
    """No evidence: nothing was tried while it was to fail, or what it was to fail from on never came."""
    idle = meant({"after": {"entry": "kill", "is": "healed"}})
    idle.rows["sends"] = [row for row in idle.rows["sends"] if row["invoked"] < ns(5)]
    missing = meant({"after": "never"})
    unfenced = meant("fenced")
    for history, says in ((idle, "tried nothing"), (missing, "never came"), (unfenced, "never came")):
        (row,) = asked(history)
        assert row["severity"] == "unproven"
        assert says in row["reason"]


@pytest.mark.spark
def test_a_reader_that_must_fail_may_poll_and_be_given_nothing(asked: Asked) -> None:
    """An empty poll is an attempt that came to nothing; one with records, and a commit, are successes."""
    how = {"after": {"entry": "kill", "is": "applied"}}
    history = meant(how, "reader")
    history.each("polls", lambda row: row | {"records": 1})
    assert {row["what"] for row in asked(history)} == {"polls"}
    history.each("polls", lambda row: row | ({"records": 0} if row["invoked"] >= ns(1) else {}))
    assert asked(history) == []
    history.commit(1, at=8)
    assert {row["what"] for row in asked(history)} == {"commits"}


def test_when_it_is_to_fail(tmp_path: Path) -> None:
    """Always; from an entry's effect, its undo or its end on, with a delay, until another entry begins."""
    history = History(records=10)
    history.add("faults", fault="later", step="kill_broker", targets="1", invoked=9, applied=9.5, heal_invoked=10,
                healed=11, took=True, undone=True)  # fmt: skip
    kill = read_case(history.write(tmp_path / "plain")).acted[0]
    cases = {
        "always": (ns(-5.95), 0, ns(22)),
        "applied": (kill.applied, 2, ns(22)),
        "healed": (kill.healed, 0, ns(9)),
        "done": (kill.healed, 0, ns(22)),
    }
    hows: dict[str, Any] = {
        "always": "always",
        "applied": {"after": {"entry": "kill", "is": "applied", "delay": "2s"}},
        "healed": {"after": {"entry": "kill", "is": "healed"}, "until": "later"},
        "done": {"after": "kill"},
    }
    for name, (began, delay, ended) in cases.items():
        history.probes["writer"]["produce"]["must_fail"] = hows[name]
        span = MustFailWindow("writer", began or 0, (began or 0) + delay * 10**9, ended)
        assert failing(read_case(history.write(tmp_path / name))) == {"writer": span}
