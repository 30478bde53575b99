"""Guards about what groups had committed in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History
from analysis.sealing import change, seal

from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.commit_guards import foreign_commit, group_not_asked

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


def test_a_run_of_an_older_version_need_not_say_it(tmp_path: Path) -> None:
    """Where nobody noted how many rows there are, none may be missing for nothing."""
    assert list(group_not_asked(case_of(History(records=RECORDS), tmp_path))) == []
