"""A5, B9: readers that begin at the end of the log whenever they come, and are killed and started again."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.conftest import Judge
from analysis.history import History, Row, ns
from analysis.ways import guards, told
from pyspark.sql import SparkSession

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark

CHECKS = ("unseen", "lost")
"""Those that are asked here."""
TAIL: Row = {"kind": "consume", "group": None, "isolation": "read_committed", "commit": "none"}
KILLED, BACK = 6.0, 9.0


def restarted(*, answered: bool = True, also: range = range(0), settings: Row | None = None) -> History:
    """A reader without a group, which begins at the end: killed at 6 s, given the partition again at 9 s.

    Of two records a second it is not given 22 to 27, of 6 s to 8.5 s, and those in ``also``. ``answered``: whether the
    cluster told its second process where the log ended.
    """
    history = History(records=50)
    history.probes["tail"] = {"consume": {"topic": "orders", "assign": "all"} | (settings or {"start": "end"})}
    history.entry = {"name": "kill", "at": "6s", "kill_probe": {"probe": "tail"}}
    history.change("faults", {"fault": "kill"}, step="kill_probe", invoked=ns(KILLED), applied=ns(KILLED), healed=None,
                   heal_invoked=None)  # fmt: skip
    ends = {0: "step", 1: "stop"}
    history.record["probes"] += [
        {"probe": "tail", "incarnation": number, "ended_by": how, "exit_status": 0} for number, how in ends.items()
    ]
    history.worker("tail", 0, ends=False, **TAIL)
    history.worker("tail", 1, started=BACK - 0.1, **TAIL)
    for incarnation, at in ((0, -5.9), (1, BACK)):
        history.add("assignments", probe="tail", incarnation=incarnation, group=None, at=at)
    history.add("seeks", probe="tail", offset=0, at=-5.8)
    if answered:
        history.add("seeks", probe="tail", incarnation=1, offset=28, at=BACK + 0.05)
    for offset in (offset for offset in range(50) if offset not in {*range(22, 28), *also}):
        at = -5 + offset / 2 + 0.01
        incarnation = int(at > KILLED)
        history.read(
            offset, max(at, BACK + 0.2) if incarnation else at, probe="tail", incarnation=incarnation, group=None
        )
    for number in range(50):
        at = -5 + number / 2
        if not KILLED < at < BACK:
            history.add(
                "polls",
                probe="tail",
                incarnation=int(at > KILLED),
                poll=100_000 + number,
                invoked=at,
                completed=at + 0.1,
            )
    return history


@pytest.mark.proves("unseen", "near miss")
@pytest.mark.parametrize("settings", [{"start": "end"}, {"config": {"auto.offset.reset": "latest"}}])
@pytest.mark.parametrize("answered", [True, False])
def test_what_comes_while_no_process_is_there_is_not_owed(judge: Judge, settings: Row, *, answered: bool) -> None:
    """A5: 22 to 27 came between the kill and the next process, which began at the end again, as it is meant to."""
    verdict = judge(restarted(answered=answered, settings=settings))
    assert (verdict.verdict, guards(verdict)) == (Outcome.PASS, set())
    (account,) = [each for each in verdict.ledger if each.reader == "tail"]
    assert sum(account.excused.values()) == 6


@pytest.mark.proves("unseen", "fires")
@pytest.mark.parametrize("answered", [True, False])
def test_what_comes_while_a_process_is_there_is_owed(judge: Judge, *, answered: bool) -> None:
    """A5, near miss: the second process had been given 28 and 29 when 30 to 32 came, and was given what is behind."""
    assert told(judge(restarted(also=range(30, 33), answered=answered)))["unseen"] == 3


@pytest.mark.proves("unseen", "no evidence")
def test_without_an_answer_the_first_records_are_open(judge: Judge) -> None:
    """A5, near miss: 28 and 29 came after the second process, and nobody knows where it began."""
    verdict = judge(restarted(also=range(28, 30), answered=False))
    assert (told(verdict), "unseen_unproven" in guards(verdict)) == ({}, True)


def test_a_reader_that_begins_at_the_start_is_owed_what_came_meanwhile(judge: Judge) -> None:
    """A5, near miss: with ``start: beginning`` the second process had to be given 22 to 27."""
    history = restarted(settings={"start": "beginning"}, answered=False)
    assert told(judge(history))["unseen"] == 6


def test_what_an_earlier_process_had_not_come_to_is_open(judge: Judge) -> None:
    """A5, near miss: the first process had come to 4 when it was killed; 5 to 11 had waited for long."""
    verdict = judge(restarted(also=range(5, 22)))
    assert (told(verdict), "unseen_unproven" in guards(verdict)) == ({}, True)
    (account,) = [each for each in verdict.ledger if each.reader == "tail"]
    assert (sum(account.not_judged.values()), sum(account.excused.values())) == (7, 16)


@pytest.mark.proves("stuck_consumer", "near miss")
@pytest.mark.parametrize(("answered", "last", "rows"), [(True, 28, 0), (False, 28, 0), (True, 31, 1)])
def test_nothing_waits_for_a_process_that_began_behind_it(
    spark: SparkSession, tmp_path: Path, last: int, rows: int, *, answered: bool
) -> None:
    """B9: the writer stopped at 9 s, so the second process is given nothing; or 28 to 30 came later, and wait."""
    history = restarted(answered=answered)
    for table in ("reads", "audit", "sends"):
        history.rows[table] = [row for row in history.rows[table] if row["offset"] < last]
    history.rows["reads"] = [row for row in history.rows["reads"] if row["probe"] != "tail" or row["offset"] < 28]
    history.change("phases", {"phase": "drain"}, ended=ns(60))
    assert len(asking(spark, tmp_path, "stuck_consumer")(history)) == rows
