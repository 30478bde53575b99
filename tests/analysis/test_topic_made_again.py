"""What the rules make of a topic that is deleted and made again: two logs of one name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.remade import FIRST, remade, restarted
from analysis.ways import finding, guards, measure, told
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.rundir.verdict import Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]

POSITIONS = ("reset_jump", "commit_skip", "unseen", "commit_ahead", "commit_regression", "redelivery")
HOLDINGS = ("consume_while_unassigned", "double_ownership", "poll_order", "poll_skip")
LOGS = ("lost", "lost_write", "duplicate_in_log", "inconsistent_offset", "stale_append", "send_order")
Ask = Callable[..., Verdict]


@pytest.fixture
def ask(spark: SparkSession, tmp_path: Path) -> Ask:
    """Judges a history by some rules alone, which costs a tenth of asking all."""

    def asked(history: History, *names: str) -> Verdict:
        return analyze(spark, history.write(tmp_path / "run"), {name: checks()[name] for name in names})

    return asked


def test_what_is_deleted_with_its_topic_is_owed_to_nobody(judge: Judge, tmp_path: Path) -> None:
    """Offsets begin again, and what waited meanwhile is the new topic's. The writer's outage spans both topics."""
    verdict = judge(remade(), "produce_unavailability", "rebalances")
    assert (told(verdict), guards(verdict), verdict.verdict) == ({}, set(), "pass")
    assert measure(verdict, "unavailability", "writer") == pytest.approx(2.305)
    assert measure(verdict, "rebalances", "readers") == 0
    assert not list((tmp_path / "run").glob("apart-*"))


def _lost(history: History, seq: int) -> History:
    history.drop("reads", seq=seq)
    history.drop("audit", seq=seq)
    return history


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize("seq", [FIRST + 3, FIRST + 60])
def test_a_record_of_the_new_topic_is_lost(ask: Ask, seq: int) -> None:
    """Sent while there was no topic, and later: both were acknowledged by the new one, which has them no more."""
    verdict = ask(_lost(remade(), seq), *LOGS)
    assert finding(verdict, "lost").evidence[0]["seq"] == seq
    assert "lost" in told(verdict)


@pytest.mark.proves("lost", "near miss")
def test_an_answer_of_the_old_topic_that_comes_late_is_its_own(ask: Ask) -> None:
    """The acknowledgement is read only after the topic was made again, and names an offset behind all others there."""
    history = remade()
    history.change("sends", {"seq": FIRST - 1}, completed=ns(5.2))
    verdict = ask(history, *LOGS)
    assert (told(verdict), guards(verdict)) == ({}, set())


@pytest.mark.proves("reset_jump", "fires")
@pytest.mark.proves("commit_skip", "fires")
def test_a_group_that_goes_on_where_it_was_skips_the_first_records(ask: Ask) -> None:
    """A member that runs on never gets the new topic's first twenty; committed past they are lost to the group."""
    history = remade()
    for offset in range(20):
        history.drop("reads", seq=offset + FIRST)
    history.commit(150, 20.5)
    history.add("groups", offset=150)
    verdict = ask(history, *POSITIONS)
    assert told(verdict) == {"reset_jump": 1, "commit_skip": 20, "unseen": 20}
    (jump,) = finding(verdict, "reset_jump").evidence
    assert (jump["kind"], jump["committed"], jump["offset"], jump["skipped"]) == ("later", 0, 20, 0)
    assert (jump["topic"], jump["partition"]) == ("orders", 0)


@pytest.mark.proves("reset_jump", "fires")
def test_a_group_that_comes_back_to_a_deleted_topics_offset(ask: Ask) -> None:
    """What it had committed of the old topic is still told to it, and it passes the new one's first records."""
    history = remade()
    restarted(history, found=75, first=75)
    verdict = ask(history, *POSITIONS)
    assert told(verdict)["reset_jump"] == 1
    assert finding(verdict, "reset_jump").evidence[0]["skipped"] == 0


@pytest.mark.proves("reset_jump", "near miss")
@pytest.mark.parametrize("found", [None, 75])
def test_a_group_that_begins_the_new_topic_at_its_first_record(ask: Ask, found: int | None) -> None:
    """Nothing is committed there; or what is was out of range, and it was reset to the beginning."""
    history = remade()
    restarted(history, found=found, first=0)
    verdict = ask(history, *POSITIONS)
    assert (told(verdict), guards(verdict)) == ({}, set())


@pytest.mark.proves("commit_ahead", "fires")
def test_a_held_offset_committed_to_the_new_topic(ask: Ask) -> None:
    """Whoever came next would begin there; before the topic was made again the same commit is right."""
    history = remade()
    history.commit(80, 3.5)
    verdict = ask(history, *POSITIONS)
    assert told(verdict) == {}
    history.commit(80, 5.305)
    assert told(ask(history, *POSITIONS)) == {"commit_ahead": 1}


@pytest.mark.proves("consume_while_unassigned", "near miss")
def test_records_of_the_old_topic_that_were_fetched_before(ask: Ask) -> None:
    """They are given to the application after the topic was made again, before the first of the new one."""
    history = remade()
    for seq in range(FIRST - 3, FIRST):
        history.change("reads", {"seq": seq}, at=ns(5.1))
    verdict = ask(history, *HOLDINGS)
    assert (told(verdict), guards(verdict)) == ({}, set())


@pytest.mark.proves("duplicate_in_log", "fires")
def test_a_record_of_the_old_topic_that_is_in_the_new_one(ask: Ask) -> None:
    """It was acknowledged, and deleted: it must not come back."""
    history = remade()
    history.audit(170, seq=40)
    assert told(ask(history, *LOGS))["duplicate_in_log"] == 1


@pytest.mark.proves("duplicate_in_log", "near miss")
def test_a_record_that_was_sent_again_because_its_topic_was_gone(ask: Ask) -> None:
    """A reader was given it of the old topic, whose acknowledgement never came; its retry went into the new one."""
    history = remade()
    history.read(FIRST, 2.99, seq=FIRST)
    history.change("sends", {"seq": FIRST}, invoked=ns(2.98), scheduled=ns(2.98))
    verdict = ask(history, *LOGS)
    assert told(verdict) == {"duplicate_in_log (allowed)": 1}
    (row,) = finding(verdict, "duplicate_in_log").evidence
    assert (row["topic"], row["other_topic"], row["other_partition"]) == ("orders", "orders (deleted)", 0)


@pytest.mark.proves("lost_write", "fires")
def test_a_loss_in_the_old_topic_is_told_of_that(ask: Ask, tmp_path: Path) -> None:
    """It was passed by a reader before the deletion: that proves it whatever became of the topic."""
    history = remade()
    history.drop("reads", seq=40)
    verdict = ask(history, *LOGS)
    assert told(verdict) == {"lost_write": 1}
    assert finding(verdict, "lost_write").evidence[0]["topic"] == "orders (deleted)"
    (line,) = (tmp_path / "run" / "evidence" / "lost_write.jsonl").read_text().splitlines()
    assert json.loads(line)["partition"] == 0
