"""Guards about what groups had committed in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.asking import passed_on
from analysis.history import History, ns
from analysis.sealing import change, seal

from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.commit_guards import foreign_commit, group_not_asked, start_by_nobody

RECORDS = 50


def committing(told: int | None, *commits: dict[str, Any], **settings: Any) -> History:
    """A reader that commits, of which the cluster says after the run that it committed ``told``."""
    history = History(records=RECORDS)
    history.each("incarnations", lambda row: row | (settings if row["probe"] == "reader" else {}))
    for commit in commits:
        history.commit(**commit)
    history.add("groups", offset=told)
    return history


def case_of(history: History, folder: Path) -> Case:
    """The case of a history."""
    return read_case(history.write(folder / "run"))


def test_more_than_anybody_asked_for_was_committed_by_somebody_else(tmp_path: Path) -> None:
    """A record that the group was not given yet may be skipped: who commits for it is not of this run."""
    history = committing(51, {"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8})
    (guard,) = foreign_commit(case_of(history, tmp_path))
    assert "readers committed 51 in orders-0, and no process of the run asked for more than 50" in guard.what


@pytest.mark.parametrize(
    "history",
    [
        committing(50, {"offset": 50, "at": 19.8}),
        committing(50, {"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8, "outcome": "info", "completed": None}),
        committing(20, {"offset": 20, "at": 5.0}),
        committing(50, {"offset": 20, "at": 5.0, "kind": "auto"}, commit="automatic"),
        committing(None, {"offset": 20, "at": 5.0}),
        committing(50),
    ],
    ids=["the newest", "of unknown fate", "less", "automatic", "none told", "none asked for"],
)
def test_what_a_process_asked_for_is_its_own(tmp_path: Path, history: History) -> None:
    """Near misses: asked for and perhaps never answered, committed by the client itself, or nothing to compare with."""
    assert list(foreign_commit(case_of(history, tmp_path))) == []


def test_a_process_that_was_killed_may_have_asked_for_more(tmp_path: Path) -> None:
    """Without an end marker its last commits may not be written down."""
    history = committing(50, {"offset": 20, "at": 5.0})
    history.drop("ends", probe="reader")
    assert list(foreign_commit(case_of(history, tmp_path))) == []


def test_what_a_transaction_was_to_commit_counts(tmp_path: Path) -> None:
    """Offsets that went into a transaction were asked for."""
    history = committing(50, {"offset": 20, "at": 5.0})
    history.add("txn_offsets", probe="reader", incarnation=0, txn="t-0", group="readers", topic="orders", partition=0,
                offset=50, at=19.0)  # fmt: skip
    assert list(foreign_commit(case_of(history, tmp_path))) == []


def test_a_group_that_the_cluster_said_nothing_of(tmp_path: Path) -> None:
    """A run that says how much it wrote, and did not write what a group committed: its coordinator was gone."""
    rundir = seal(committing(50, {"offset": 50, "at": 19.8}).write(tmp_path / "run"))
    assert list(group_not_asked(read_case(rundir))) == []
    change(rundir, "groups", lambda _: [])
    (guard,) = group_not_asked(read_case(seal(rundir)))
    assert "what readers had committed for orders-0" in guard.what


def test_a_group_that_keeps_its_own_offsets_is_not_asked(tmp_path: Path) -> None:
    """Near miss: its application stores them in a topic, and no coordinator knows of any."""
    history = History(records=RECORDS)
    history.probes["reader"]["consume"] |= {"assign": "all", "commit": "sync", "offsets": {"topic": "positions"}}
    assert list(group_not_asked(read_case(seal(history.write(tmp_path / "run"))))) == []


def test_a_run_of_an_older_version_need_not_say_it(tmp_path: Path) -> None:
    """Where nobody noted how many rows there are, none may be missing for nothing."""
    assert list(group_not_asked(case_of(History(records=RECORDS), tmp_path))) == []


def test_a_killed_process_asked_for_nothing_that_was_sent_after_its_end(tmp_path: Path) -> None:
    """It was killed at 5.2 s, when 20 records had been sent, and the cluster reports 50; near miss: it reports 21."""
    history = committing(50, {"offset": 20, "at": 5.0}, commit="automatic")
    history.beside.append({"name": "murder", "at": "5.1s", "kill_probe": {"probe": "reader"}})
    history.add("faults", fault="murder", step="kill_probe", targets="probe reader", invoked=5.1, applied=5.2,
                took=True, undone=True)  # fmt: skip
    history.drop("ends", probe="reader")
    (guard,) = foreign_commit(case_of(history, tmp_path / "beyond"))
    assert "committed 50 in orders-0, and record 21 was sent when" in guard.what
    history.change("groups", {}, offset=21)
    assert list(foreign_commit(case_of(history, tmp_path / "near"))) == []


# --- where members began ----------------------------------------------------------------------------------------------


def begun(found: int, **settings: Any) -> History:
    """The reader came at -3.9 s, when three records had been sent, and found ``found``."""
    history = History(records=50)
    history.each("incarnations", lambda row: row | (settings if row["probe"] == "reader" else {}))
    history.change("assignments", {}, at=ns(-3.9))
    history.change("fetched", {}, offset=found, invoked=ns(-3.85), completed=ns(-3.8))
    return history


def test_an_offset_that_no_process_had_committed_was_committed_by_somebody_else(tmp_path: Path) -> None:
    """The log began with this run, so that the group cannot have read it in an earlier one."""
    (guard,) = start_by_nobody(case_of(begun(3), tmp_path))
    assert "found 3 committed for readers in orders-0" in guard.what
    assert "no process had asked for more than 0" in guard.what


def test_a_log_with_older_records_may_have_been_read_before(tmp_path: Path) -> None:
    """Near miss: its first record was not sent in this run."""
    history = begun(3)
    history.drop("sends", seq=0)
    assert list(start_by_nobody(case_of(history, tmp_path))) == []


@pytest.mark.parametrize(
    "commit", [{}, {"outcome": "info", "completed": None}, {"kind": "auto"}], ids=["acknowledged", "unsure", "auto"]
)
def test_what_a_process_had_asked_for_may_be_found(tmp_path: Path, commit: dict[str, Any]) -> None:
    """Near misses: 22 was asked for before the next process found it, with or without an answer."""
    history = History(records=50)
    history.commit(22, 5.6, **commit)
    passed_on(history, 6.0, 22)
    assert list(start_by_nobody(case_of(history, tmp_path))) == []


def test_what_a_process_asked_for_later_is_not_found(tmp_path: Path) -> None:
    """The commit of 22 was asked for after the next process had found 22."""
    history = History(records=50)
    history.commit(22, 6.5)
    passed_on(history, 6.0, 22)
    assert len(list(start_by_nobody(case_of(history, tmp_path)))) == 1


def test_commits_that_are_not_recorded_may_be_found(tmp_path: Path) -> None:
    """Near misses: automatic ones, and those of a process that was killed, up to what had been sent by its end."""
    automatic = History(records=50)
    automatic.each("incarnations", lambda row: row | {"commit": "automatic"} if row["probe"] == "reader" else row)
    passed_on(automatic, 6.0, 22)
    assert list(start_by_nobody(case_of(automatic, tmp_path / "automatic"))) == []
    for found, guards in ((23, 0), (24, 1)):
        cut = History(records=50)
        cut.drop("ends", probe="reader")
        passed_on(cut, 6.1, found, how=None)
        assert len(list(start_by_nobody(case_of(cut, tmp_path / f"killed-{found}")))) == guards
