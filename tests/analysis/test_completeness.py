"""When a log may lack what happened in a window, and until when a process may have lived."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History, ns
from analysis.tallying import tallies

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.completeness import gone, incomplete, there


def case(folder: Path, history: History) -> Case:
    """What is known of a history."""
    return read_case(history.write(folder / "run"))


def killed(history: History, tally: float | None = 3.0) -> History:
    """The writer has left no end marker, and one tally, if any."""
    history.drop("ends", probe="writer")
    if tally is not None:
        history.rows["tallies"] = tallies(history.rows, [("writer", 0)], ns(tally))
    return history


def window(began: float, ended: float) -> TimeSpan:
    """A stretch of seconds."""
    return TimeSpan("w", ns(began), ns(ended))


def test_who_ended_cleanly_lacks_nothing(tmp_path: Path) -> None:
    """End markers say that all was written."""
    found = case(tmp_path, History(records=50))
    assert not incomplete(found, ["writer", "reader"], found.run)


@pytest.mark.parametrize(("began", "ended", "lacks"), [
    (-5, 3, False), (2.9, 3.1, True), (4, 4.1, True), (4.9, 6, True), (5, 6, False),
])  # fmt: skip
def test_between_the_last_tally_and_the_next_process(
    tmp_path: Path, began: float, ended: float, *, lacks: bool
) -> None:
    """The tally is of 3 s; the next process started at 5 s, and by then the one before was gone."""
    history = killed(History(records=50))
    history.worker("writer", 1, started=5, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    assert incomplete(case(tmp_path, history), ["writer"], window(began, ended)) is lacks


def test_whoever_is_not_asked_about_does_not_matter(tmp_path: Path) -> None:
    """The reader's log is whole."""
    assert not incomplete(case(tmp_path, killed(History(records=50))), ["reader"], window(2, 9))


def test_a_verified_kill_says_that_it_was_gone(tmp_path: Path) -> None:
    """By 1.1 s the kill of the writer was verified, and nobody started it again; that of the reader tells nothing."""
    history = killed(History(records=50), tally=0.5)
    history.entry = {"name": "kill", "at": "1s", "kill_probe": {"probe": "writer"}, "for": "4s"}
    found = case(tmp_path, history)
    assert gone(found, next(w for w in found.workers if w.probe == "writer")) == ns(1.1)
    assert [incomplete(found, ["writer"], window(*each)) for each in ((0, 1), (1, 2), (1.1, 20))] == [True, True, False]


@pytest.mark.parametrize("tally", [3.0, None])
def test_a_process_of_which_nothing_is_known_may_have_lived_on(tmp_path: Path, tally: float | None) -> None:
    """Nobody killed it: until the run's end, and without a tally from its start."""
    found = case(tmp_path, killed(History(records=50), tally))
    assert incomplete(found, ["writer"], window(20, 21))
    assert incomplete(found, ["writer"], window(-5, 0)) is (tally is None)


def test_while_the_machine_stood_still_nobody_saw_anything(tmp_path: Path) -> None:
    """From 7 s to 14 s nothing at all was written."""
    history = History(records=50)
    history.rows["clocks"] = [row for row in history.rows["clocks"] if not ns(7) < row["monotonic"] < ns(14)]
    for table, column in (("partitions", "at"), ("polls", "completed"), ("sends", "completed"), ("reads", "at")):
        history.rows[table] = [row for row in history.rows[table] if not ns(7) < row[column] < ns(14)]
    found = case(tmp_path, history)
    assert [incomplete(found, ["writer"], window(*each)) for each in ((0, 6), (6, 8), (13, 15), (15, 20))] == [
        False, True, True, False,
    ]  # fmt: skip


def test_who_started_later_was_not_there(tmp_path: Path) -> None:
    """Both started at -5.95 s; of several probes one is enough."""
    history = History(records=50)
    history.worker("late", started=8, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    found = case(tmp_path, history)
    assert [there(found, ["late"], window(*each)) for each in ((0, 8), (7, 9), (9, 10))] == [False, True, True]
    assert there(found, ["late", "writer"], window(0, 8))
    assert not there(found, [], window(0, 8))
