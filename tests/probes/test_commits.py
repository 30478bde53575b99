"""Commits as events: each asked for, answered once, and never called stored when that is in doubt."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from chaosk.probes._commit_policy import CommitPolicy
from chaosk.probes._commits import Commits
from chaosk.probes._fields import Every
from chaosk.probes._ownership import Ownership, Place
from chaosk.rundir.events import TABLES

A, B = ("orders", 0), ("orders", 1)
Row = dict[str, Any]


class Rows:
    """An event log that keeps its rows in memory, by column."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep one row of ``commits``."""
        assert table == "commits"
        self.rows.append(dict(zip((column.name for column in TABLES["commits"].columns), row, strict=True)))

    def write_columns(self, table: str, rows: int, columns: Mapping[str, Any]) -> None:
        """Commits come one by one."""
        raise AssertionError(table, rows, columns)

    def due(self) -> bool:
        """Memory is never due."""
        return False

    def flush(self) -> None:
        """Memory needs none."""

    def brief(self) -> list[tuple[Any, ...]]:
        """Place, offset, outcome, error and kind of every row."""
        return [(row["partition"], row["offset"], row["outcome"], row["error"], row["kind"]) for row in self.rows]


@pytest.fixture
def log() -> Rows:
    """An empty log."""
    return Rows()


def commits(log: Rows, *, automatic: bool = False) -> Commits:
    """Those of a member that holds both partitions."""
    held = Ownership()
    held.given([A, B])
    return Commits(log, ("reader", 0, "readers"), held, automatic=automatic)


@pytest.fixture
def client(mock_cluster: str) -> Any:
    """A consumer that assigns itself both partitions; a producer's question makes the topic."""
    Producer({"bootstrap.servers": mock_cluster, "log_level": 2}).list_topics("orders", timeout=10)
    consumer = Consumer({"bootstrap.servers": mock_cluster, "group.id": "commits", "log_level": 2})
    consumer.assign([TopicPartition(*A), TopicPartition(*B)])
    yield consumer
    consumer.close()


@pytest.fixture
def nobody() -> Any:
    """A consumer whose cluster is not there; its commits wait for a coordinator as long as a session lasts."""
    consumer = Consumer({
        "bootstrap.servers": "127.0.0.1:1", "group.id": "commits", "log_level": 2, "session.timeout.ms": 1000,
    })  # fmt: skip
    consumer.assign([TopicPartition(*A)])
    yield consumer
    consumer.close()


def answer(**offsets: int) -> list[TopicPartition]:
    """Partitions of the topic as a callback gets them."""
    return [TopicPartition("orders", int(name[1:]), offset) for name, offset in offsets.items()]


def test_a_synchronous_commit_is_one_row_a_partition(log: Rows, client: Consumer) -> None:
    """Asked for, answered, and stored, with the number of the assignment."""
    assert commits(log).sync(client, {A: 5, B: 9}) == {}
    assert log.brief() == [(0, 5, "ok", None, "sync"), (1, 9, "ok", None, "sync")]
    for row in log.rows:
        assert row["invoked"] <= row["completed"]
        assert (row["probe"], row["incarnation"], row["group"], row["assignment"]) == ("reader", 0, "readers", 0)
    stored = client.committed([TopicPartition(*A), TopicPartition(*B)], timeout=10)
    assert [each.offset for each in stored] == [5, 9]


def test_an_asynchronous_commit_is_written_when_its_answer_comes(log: Rows) -> None:
    """No row before the answer; then one with both times."""
    found = commits(log)
    client = Client()
    found.start(client, {A: 5})  # type: ignore[arg-type]
    assert log.rows == []
    assert found.outstanding()
    found.answered(None, answer(p0=5))
    assert log.brief() == [(0, 5, "ok", None, "async")]
    assert not found.outstanding()


class Client:
    """Takes commits and answers none: the test does."""

    def commit(self, **_what: object) -> None:
        """Take it."""


def test_answers_find_their_commit(log: Rows) -> None:
    """Several under way: each answer is matched by its offsets, the same ones in the order asked."""
    found = commits(log)
    client = Client()
    for offset in (5, 7, 5):
        found.start(client, {A: offset})  # type: ignore[arg-type]
        time.sleep(0.002)
    found.answered(None, answer(p0=7))
    found.answered(None, answer(p0=5))
    found.answered(None, answer(p0=5))
    assert [row["offset"] for row in log.rows] == [7, 5, 5]
    assert log.rows[1]["invoked"] < log.rows[0]["invoked"] < log.rows[2]["invoked"]


def test_what_has_no_answer_at_the_end_is_in_doubt(log: Rows) -> None:
    """A commit without an answer may have been stored: info, with no time of completion."""
    found = commits(log)
    found.start(Client(), {A: 5, B: 6})  # type: ignore[arg-type]
    found.give_up()
    assert log.brief() == [(0, 5, "info", None, "async"), (1, 6, "info", None, "async")]
    assert {row["completed"] for row in log.rows} == {None}
    assert not found.outstanding()


def test_an_automatic_commit_counts_from_the_poll_before_it(log: Rows) -> None:
    """It carries what was handed over until the last completed poll, and that is its time of asking."""
    found = commits(log, automatic=True)
    found.polled = 12345
    found.answered(None, answer(p0=5))
    assert log.brief() == [(0, 5, "ok", None, "auto")]
    assert log.rows[0]["invoked"] == 12345


def test_the_callback_of_a_synchronous_commit_is_not_a_second_one(log: Rows) -> None:
    """Without automatic commits an answer that nobody waits for was already written."""
    commits(log).answered(None, answer(p0=5))
    assert log.rows == []


def test_a_partition_without_anything_to_commit_is_no_row(log: Rows) -> None:
    """The client lists every partition it holds; a negative offset means there was nothing."""
    commits(log, automatic=True).answered(None, answer(p0=5, p1=-1001))
    assert log.brief() == [(0, 5, "ok", None, "auto")]


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("ILLEGAL_GENERATION", "fail"),
        ("UNKNOWN_MEMBER_ID", "fail"),
        ("NOT_COORDINATOR", "fail"),
        ("REBALANCE_IN_PROGRESS", "fail"),
        ("_NO_OFFSET", "fail"),
        ("_TRANSPORT", "info"),
        ("_TIMED_OUT", "info"),
        ("REQUEST_TIMED_OUT", "info"),
        ("UNKNOWN", "info"),
    ],
)
def test_a_commit_failed_only_if_it_cannot_have_been_stored(log: Rows, name: str, outcome: str) -> None:
    """What the coordinator refuses is not stored; what broke on the way may have been."""
    found = commits(log, automatic=True)
    found.answered(KafkaError(getattr(KafkaError, name)), answer(p0=5))
    assert log.brief() == [(0, 5, outcome, name, "auto")]
    assert found.last_error == name


def test_a_commit_that_cannot_be_sent_is_on_record(log: Rows, nobody: Consumer) -> None:
    """Without a cluster a synchronous commit ends with an error, and its row says which."""
    refused = commits(log).sync(nobody, {A: 5})
    ((_, offset, outcome, error, kind),) = log.brief()
    assert (offset, kind) == (5, "sync")
    assert outcome in {"info", "fail"}
    assert refused == ({A: 5} if outcome == "fail" else {})
    assert error is not None


# --- pace -------------------------------------------------------------------------------------------------------------


class Asked(Commits):
    """Commits that only note what they were asked for."""

    def __init__(self) -> None:
        super().__init__(Rows(), ("reader", 0, "readers"), Ownership(), automatic=False)
        self.asked: list[tuple[str, dict[Place, int]]] = []
        self.refuses: tuple[Place, ...] = ()

    def sync(self, client: Consumer, offsets: dict[Place, int]) -> dict[Place, int]:
        """Note it."""
        self.asked.append(("sync", dict(offsets)))
        return {place: offset for place, offset in offsets.items() if place in self.refuses}

    def start(self, client: Consumer, offsets: dict[Place, int]) -> None:
        """Note it."""
        self.asked.append(("async", dict(offsets)))


NO_CLIENT: Any = None


@pytest.mark.parametrize(
    ("every", "commits_at"),
    [(Every(batches=1), [3, 6, 9]), (Every(records=1), [3, 6, 9]), (Every(records=5), [6]), (Every(seconds=60), [])],
)
def test_commits_come_when_it_is_time(every: Every, commits_at: list[int]) -> None:
    """After each batch, after so many records, after so long; always up to what was processed last."""
    asked = Asked()
    pace = CommitPolicy(asked, every, wait=True)
    for offset in (3, 6, 9):
        pace.processed({A: offset}, 3)
        pace.keep(NO_CLIENT)
    assert asked.asked == [("sync", {A: offset}) for offset in commits_at]


def test_a_duration_is_a_duration() -> None:
    """Nothing before it is over, everything that waits after it."""
    asked = Asked()
    pace = CommitPolicy(asked, Every(seconds=0.05), wait=False)
    for offsets, sleep in (({A: 1}, 0.06), ({B: 2}, 0.0), ({B: 3}, 0.0)):
        pace.processed(offsets, 1)
        pace.keep(NO_CLIENT)
        time.sleep(sleep)
    assert asked.asked == [("async", {A: 1, B: 2})]


def test_what_waits_is_committed_at_the_end_and_only_once() -> None:
    """A clean end commits the rest; a second one has nothing left."""
    asked = Asked()
    pace = CommitPolicy(asked, Every(records=100), wait=False)
    pace.processed({A: 1, B: 2}, 5)
    pace.commit(NO_CLIENT)
    pace.commit(NO_CLIENT)
    assert asked.asked == [("async", {A: 1, B: 2})]


def test_a_partition_that_goes_is_committed_first_and_waited_for() -> None:
    """Before a revocation the commit is synchronous whatever the scenario says, and of the partitions that go."""
    asked = Asked()
    pace = CommitPolicy(asked, Every(records=100), wait=False)
    pace.processed({A: 1, B: 2}, 5)
    pace.before_revoke(NO_CLIENT, [A])
    pace.before_revoke(NO_CLIENT, [A])
    pace.commit(NO_CLIENT)
    assert asked.asked == [("sync", {A: 1}), ("async", {B: 2})]


def test_a_partition_that_was_lost_is_not_committed() -> None:
    """Somebody else may hold it: a commit of it would set that one back."""
    asked = Asked()
    pace = CommitPolicy(asked, Every(records=100), wait=True)
    pace.processed({A: 1, B: 2}, 5)
    pace.drop([A])
    pace.commit(NO_CLIENT)
    assert asked.asked == [("sync", {B: 2})]


def test_what_was_refused_is_committed_again_before_its_partition_goes() -> None:
    """A commit of an old generation is refused while a rebalance ends: what it said is said again, or more."""
    asked = Asked()
    pace = CommitPolicy(asked, Every(batches=1), wait=True)
    asked.refuses = (A,)
    pace.processed({A: 1, B: 2}, 5)
    pace.keep(NO_CLIENT)
    asked.refuses = ()
    pace.before_revoke(NO_CLIENT, [A, B])
    pace.commit(NO_CLIENT)
    assert asked.asked == [("sync", {A: 1, B: 2}), ("sync", {A: 1})]
