"""Which topic of a name a row is about, row by row. No Spark: tables in, tables out."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from analysis.history import History, Row, ns
from analysis.remade import FIRST, RECORDS, remade, restarted

from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.recreated.generations import RecreatedTopic, RecreatedTopics, former
from chaosk.analysis.recreated.renumber import apart
from chaosk.core.errors import AnalysisError
from chaosk.spec.scenario import Topic

OLD, NEW = 1000, 0


def told_apart(folder: Path, history: History) -> dict[str, list[Row]]:
    """The rows of every table as the rules see them."""
    with apart(read_case(history.write(folder / "run"))) as case:
        found = {path.stem: pq.read_table(path).to_pylist() for path in case.events.glob("*.parquet")}
        assert {name: len(rows) for name, rows in found.items() if name in case.rows} == {
            name: count for name, count in case.rows.items() if name in found
        }
    assert not case.events.exists()
    return found


def numbers(rows: list[Row], column: str = "seq") -> dict[int, int]:
    """By seq (or another column) the number of the partition."""
    return {row[column]: row["partition"] for row in rows}


def test_a_run_without_such_a_step_is_read_as_it_is(tmp_path: Path) -> None:
    """Nothing is written, and runs that were recorded before there was the table are read."""
    rundir = History(records=5).write(tmp_path / "run")
    (rundir.events / "remakings.parquet").unlink()
    case = read_case(rundir)
    with apart(case) as seen:
        assert seen is case
    assert case.events == rundir.events


def test_each_row_is_of_the_topic_that_there_was(tmp_path: Path) -> None:
    """Records by when they were sent; what was sent while there was none waited for the new one."""
    tables = told_apart(tmp_path, remade())
    expected = {seq: OLD if seq < FIRST else NEW for seq in range(RECORDS)}
    assert numbers(tables["sends"]) == numbers(tables["reads"]) == expected
    assert set(numbers(tables["audit"]).values()) == {NEW}
    for name in ("partitions", "offsets"):
        assert all((row["partition"] == OLD) == (row["at"] < ns(5)) for row in tables[name])


def test_who_held_the_old_topics_partition_is_at_the_begin_of_the_new_one(tmp_path: Path) -> None:
    """Without that any client was told so: one goes and the other comes, under the number of the same assignment."""
    tables = told_apart(tmp_path, remade())
    told = [(row["kind"], row["partition"], row["at"], row["assignment"]) for row in tables["assignments"]]
    assert told == [("assign", OLD, ns(-5.9), 0), ("revoke", OLD, ns(5), 0), ("assign", NEW, ns(3), 0)]
    assert [(row["partition"], row["offset"]) for row in tables["fetched"]] == [(OLD, None), (NEW, 0)]


def test_who_was_gone_by_then_holds_nothing(tmp_path: Path) -> None:
    """It gave the partition back; or it was killed, and polled no more."""
    history = remade()
    restarted(history, found=None, first=0)
    assert [row["partition"] for row in told_apart(tmp_path / "clean", history)["assignments"]] == [OLD, OLD, NEW]
    killed = remade()
    killed.drop("ends", probe="reader")
    killed.rows["polls"] = [row for row in killed.rows["polls"] if row["completed"] < ns(4)]
    assert [row["partition"] for row in told_apart(tmp_path / "killed", killed)["assignments"]] == [OLD]


def test_what_was_fetched_before_is_delivered_late(tmp_path: Path) -> None:
    """It is the old topic's, and until then the member holds that."""
    history = remade()
    history.change("reads", {"seq": FIRST - 1}, at=ns(6))
    tables = told_apart(tmp_path, history)
    assert numbers(tables["reads"])[FIRST - 1] == OLD
    assert [row["at"] for row in tables["assignments"] if row["kind"] == "revoke"] == [ns(6)]


@pytest.mark.parametrize(("offset", "place"), [(5, NEW), (79, OLD), (81, OLD)])
def test_an_answer_that_came_later_is_of_the_log_that_can_have_given_it(
    tmp_path: Path, offset: int, place: int
) -> None:
    """Offset 5 the old log had given away long before; 79 would have been its next, and nobody found it in the new."""
    history = remade()
    history.change("sends", {"seq": FIRST - 1}, completed=ns(5.31), offset=offset)
    history.drop("reads", seq=FIRST - 1)
    assert numbers(told_apart(tmp_path, history)["sends"])[FIRST - 1] == place


def test_a_record_of_unknown_fate_is_where_it_was_found(tmp_path: Path) -> None:
    """In the new topic if the audit found it there."""
    history = remade()
    for seq in (FIRST - 2, FIRST - 1):
        history.change("sends", {"seq": seq}, outcome="info", offset=None, completed=ns(9))
        history.drop("reads", seq=seq)
    history.audit(170, seq=FIRST - 1)
    places = numbers(told_apart(tmp_path, history)["sends"])
    assert (places[FIRST - 2], places[FIRST - 1]) == (OLD, NEW)


def test_what_a_process_sent_that_began_later_is_the_new_topics(tmp_path: Path) -> None:
    """It was killed before it wrote anything down, and the audit did not find its record: only a reader had it."""
    history = remade()
    history.worker("writer", 1, started=8.0, ends=False, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.read(200, 8.5, producer_incarnation=1, seq=0)
    reads = told_apart(tmp_path, history)["reads"]
    assert [row["partition"] for row in reads if row["producer_incarnation"] == 1] == [NEW]


def test_a_committed_offset_of_the_old_topic_is_none_of_the_new(tmp_path: Path) -> None:
    """It counts as the new log's begin; one that the group committed to the new topic is what it is."""
    history = remade()
    restarted(history, found=75, first=0)
    assert told_apart(tmp_path / "stale", history)["fetched"][-1]["offset"] == 0
    history.commit(75, 7.5)
    assert told_apart(tmp_path / "own", history)["fetched"][-1]["offset"] == 75


def test_a_topic_that_is_made_again_twice(tmp_path: Path) -> None:
    """Three logs; the one that is there in the end keeps its number, and the audit is of that alone."""
    history = remade()
    history.add("remakings", topic="orders", gone=10.0, made=11.0)
    history.rows["audit"].clear()
    sent = numbers(told_apart(tmp_path, history)["sends"])
    assert (sent[FIRST - 1], sent[FIRST], sent[FIRST + 40], sent[RECORDS - 1]) == (2 * OLD, OLD, OLD, NEW)


def test_a_place_in_words() -> None:
    """The former topic by what became of it, its partitions by their own numbers."""
    twice = RecreatedTopics({"orders": RecreatedTopic(made=(5, 9), gone=(4, 8), apart=1000)})
    assert twice.told("orders", 3) == ("orders", 3)
    assert twice.told("orders", 1003) == ("orders (deleted, 2 of that name)", 3)
    assert twice.told("orders", 2003) == ("orders (deleted, 1 of that name)", 3)
    once = RecreatedTopics({"orders": RecreatedTopic(made=(5,), gone=(4,), apart=1000)})
    assert once.told("orders", 1003) == ("orders (deleted)", 3)
    assert (once.told("orders", None), once.told("other", 1003)) == (("orders", None), ("other", 1003))


def test_more_than_can_be_told_apart() -> None:
    """Room is for 16,382 partitions, former ones included."""
    rows = [{"topic": "orders", "made": number, "gone": number} for number in range(15)]
    assert former(rows, {"orders": Topic(partitions=1000)}).topics["orders"].apart == 1000
    with pytest.raises(AnalysisError, match="made again 15 times with 1400 partitions, which are too many"):
        former(rows, {"orders": Topic(partitions=1400)})


def test_the_former_replicas_are_known(tmp_path: Path) -> None:
    """What power cuts excuse is asked of the same brokers."""
    case: Case = read_case(remade().write(tmp_path / "run"))
    object.__setattr__(case, "replicas", {("orders", 0): frozenset({1})})
    with apart(case) as seen:
        assert seen.replicas == {("orders", 0): frozenset({1}), ("orders", OLD): frozenset({1})}
