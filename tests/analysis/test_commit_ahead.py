"""B5: commits beyond what the member was given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analysis.asking import Asked, asking, glances, passed_on, reads_of
from analysis.history import History, ns
from analysis.transactional import piped
from analysis.ways import finding, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "commit_ahead")


def committed(offset: int, at: float = 5.0, **values: Any) -> History:
    """The reader, which is given two records a second and has had offsets 0 to 20 at 5.2 s, commits ``offset``."""
    history = History(records=50)
    history.commit(offset, at, **values)
    return history


@pytest.mark.proves("commit_ahead", "fires")
def test_a_commit_beyond_what_was_given_is_a_violation(judge: Judge) -> None:
    """B5: 0 to 19 were given by 5.0 s, and 25 is committed; nothing was lost by it, so no other rule fires."""
    verdict = judge(committed(25))
    assert told(verdict) == {"commit_ahead": 1}
    assert finding(verdict, "commit_ahead").evidence[0].items() >= {
        "offset": 25, "position": 20, "skipped": 20
    }.items()  # fmt: skip


@pytest.mark.proves("commit_ahead", "near miss")
@pytest.mark.parametrize("values", [{"outcome": "info", "completed": None}, {"outcome": "fail"}, {"offset": 20}])
def test_what_did_not_happen_and_what_was_given_is_none(asked: Asked, values: dict[str, Any]) -> None:
    """Near misses of B5: a commit of unknown fate, one that failed, and one of just what was given."""
    assert asked(committed(**({"offset": 25} | values))) == []


def test_all_that_one_poll_gave_counts(asked: Asked) -> None:
    """Near miss of B5: 18 and 19 were given by one poll, so one past the higher one may be committed."""
    history = committed(20)
    history.change("reads", {"offset": 19}, poll=18)
    assert asked(history) == []


def test_offsets_that_hold_no_record_may_be_passed(asked: Asked) -> None:
    """Near miss of B5: nobody ever saw a record at 20 to 24; they hold control records, or aborted ones."""
    history = committed(25)
    for offset in range(20, 25):
        history.drop("sends", seq=offset)
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset)
    assert asked(history) == []


def test_what_only_read_uncommitted_shows_may_be_passed(asked: Asked) -> None:
    """Near miss of B5 for a reader at read_committed; a violation for one that sees those records."""
    history = committed(25)
    for offset in range(20, 25):
        history.change("sends", {"seq": offset}, outcome="info", offset=None)
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset, isolation="read_committed")
    assert asked(history) == []
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    assert [row["skipped"] for row in asked(history)] == [20]


def test_an_automatic_commit_has_what_was_given_until_its_answer(asked: Asked) -> None:
    """B5 of automatic commits: given before the answer is early enough; what came later was committed too far."""
    assert asked(committed(20, at=4.0, completed=5.0, kind="auto")) == []
    assert [row["offset"] for row in asked(committed(22, at=4.0, completed=5.0, kind="auto"))] == [22]


@pytest.mark.parametrize(("returned", "rows"), [(5.3, []), (5.0, [22])])
def test_an_automatic_commit_has_what_the_poll_under_way_gave(asked: Asked, returned: float, rows: list[int]) -> None:
    """Near miss of B5: the answer was served by a poll that gave 20 and 21 when it returned, after the answer.

    So it was seen on Kafka 3.9, by one record: a violation if that poll was over before.
    """
    history = committed(22, at=4.0, completed=4.95, kind="auto")
    history.drop("polls", poll=100_020)
    history.add("polls", poll=19, invoked=4.9, completed=returned)
    for offset in (20, 21):
        history.change("reads", {"offset": offset}, at=ns(5.3))
    assert [row["offset"] for row in asked(history)] == rows


def test_a_member_may_commit_where_it_began(asked: Asked) -> None:
    """Near misses of B5: the offset that it found, or the one it sought, without having been given anything."""
    history = History(records=50)
    passed_on(history, 6.0, 22)
    reads_of(history, 30, incarnation=1)
    history.commit(22, 6.5, incarnation=1)
    assert asked(history) == []
    history.commit(24, 6.7, incarnation=1)
    assert [row["skipped"] for row in asked(history)] == [22]
    history.add("seeks", incarnation=1, offset=24, at=6.6)
    assert asked(history) == []


@pytest.mark.proves("commit_ahead", "no evidence")
def test_a_killed_process_leaves_it_open(asked: Asked) -> None:
    """B5 without the evidence: the deliveries may have gone with the process."""
    history = committed(25)
    history.drop("ends", probe="reader")
    assert [row["severity"] for row in asked(history)] == ["unproven"]


def test_where_it_began_is_unknown_nothing_is_said(asked: Asked) -> None:
    """B5 without the evidence: no committed offset, no seek, and nothing given yet."""
    assert asked(committed(3, at=-5.0)) == []


def pipe(ahead: int = 0) -> History:
    """An application whose five transactions commit ten inputs each; the second commits so many more."""
    history = piped()
    for number in range(5):
        history.add("txn_offsets", probe="pipe", incarnation=0, txn=f"p-{number}", group="pipes", topic="orders",
                    partition=0, offset=10 * (number + 1) + ahead * (number == 1), at=5 * number - 0.3)  # fmt: skip
    return history


def test_a_transaction_that_commits_an_input_it_was_not_given_is_ahead(asked: Asked, tmp_path: Path) -> None:
    """B5: its process dies a moment later, and the input at 20 is nobody's any more; of one that aborted nothing is."""
    (row,) = asked(pipe(ahead=1))
    assert (row["probe"], row["offset"], row["position"], row["skipped"]) == ("pipe", 21, 20, 20)
    assert asked(pipe()) == []
    assert not glances(tmp_path / "glance", "commit_ahead", pipe())
    history = pipe(ahead=1)
    history.change("transactions", {"txn": "p-1"}, outcome="aborted")
    assert asked(history) == []


def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """Commits of each kind, of just what was given, and a partition that is passed on."""
    history = committed(20)
    history.commit(20, 5.1, kind="auto")
    passed_on(history, 6.0, 22)
    reads_of(history, 22, incarnation=1)
    history.commit(30, 10.0, incarnation=1, kind="async")
    assert not glances(tmp_path, "commit_ahead", history)
