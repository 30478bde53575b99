"""What the audit did not find, from live events alone: who asks the replicas depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History
from analysis.remade import FIRST, remade

from chaosk.run.audit.missing import MissingOffsets, joined, missing, whole
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.paths import RunDir

TABLES = ("sends", "reads", "audit", "audit_ranges", "remakings")


def live(root: Path, history: History) -> RunDir:
    """The tables of a made-up run as streams of a run that is not closed yet."""
    rundir = RunDir(root)
    with LiveLog(rundir.live / "all") as log:
        for table in TABLES:
            for row in history.rows[table]:
                log.write(table, tuple(row[name] for name in SCHEMAS[table].names))
    return rundir


def found(root: Path, history: History) -> tuple[MissingOffsets, ...]:
    """What is missing of the topic of made-up runs."""
    return missing(live(root, history), {"orders"})


@pytest.fixture
def history() -> History:
    """Fifty records, acknowledged, read and audited."""
    return History(records=50)


def test_of_a_run_that_lost_nothing_nothing_is_missing(tmp_path: Path, history: History) -> None:
    """Whatever was acknowledged or read is there."""
    assert found(tmp_path, history) == ()


def test_the_stretch_goes_from_the_first_to_the_last(tmp_path: Path, history: History) -> None:
    """Acknowledged and nowhere: 12 and 30; what lies between them is there and in the stretch all the same."""
    for offset in (12, 30):
        history.drop("audit", offset=offset)
    assert found(tmp_path, history) == (MissingOffsets("orders", 0, 12, 30),)


def test_what_was_read_and_is_gone_is_missing(tmp_path: Path, history: History) -> None:
    """Nobody acknowledged it, a reader had it, and the log forgot it."""
    history.change("sends", {"seq": 20}, outcome="info", offset=None)
    history.drop("audit", offset=20)
    assert found(tmp_path, history) == (MissingOffsets("orders", 0, 20, 20),)


def test_all_that_was_read_whole(tmp_path: Path, history: History) -> None:
    """From log start to end, of the topics asked about; nothing of what was cut short or holds nothing."""
    history.each("audit_ranges", lambda row: row | {"log_start": 6, "end": 50})
    for partition, end, complete in ((1, 9, False), (2, 0, True)):
        history.add("audit_ranges", partition=partition, isolation="read_uncommitted", log_start=0, end=end,
                    complete=complete)  # fmt: skip
    rundir = live(tmp_path, history)
    assert whole(rundir, {"orders"}) == (MissingOffsets("orders", 0, 6, 49),)
    assert whole(rundir, {"others"}) == ()


def test_stretches_of_one_partition_become_one() -> None:
    """From the first offset to the last, whatever lies between; other partitions stay apart."""
    told = (
        MissingOffsets("a", 0, 6, 49),
        MissingOffsets("a", 0, 12, 70),
        MissingOffsets("a", 1, 5, 5),
        MissingOffsets("a", 0, 2, 3),
    )
    assert joined(told) == (MissingOffsets("a", 0, 2, 70), MissingOffsets("a", 1, 5, 5))


def test_a_record_elsewhere_is_not_missing(tmp_path: Path, history: History) -> None:
    """It was acknowledged at 20 and stands at 70: another rule's matter, no replica can tell more."""
    history.change("audit", {"offset": 20}, offset=70)
    assert found(tmp_path, history) == ()


def test_records_that_nobody_promised_are_not_missing(tmp_path: Path, history: History) -> None:
    """Failed, in doubt, or without a known offset: none of them names a place that could be looked at."""
    for seq, outcome, offset in ((3, "fail", None), (4, "info", None), (5, "ok", None)):
        history.change("sends", {"seq": seq}, outcome=outcome, offset=offset)
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq)
    assert found(tmp_path, history) == ()


def test_what_was_deleted_or_not_read_whole_is_not_missing(tmp_path: Path, history: History) -> None:
    """Below the log's start retention did it; of a log that was not read to its end nobody knows."""
    history.drop("audit", offset=5)
    history.each("audit_ranges", lambda row: row | {"log_start": 6})
    assert found(tmp_path / "deleted", history) == ()
    history.drop("audit", offset=40)
    assert found(tmp_path / "known", history) == (MissingOffsets("orders", 0, 40, 40),)
    history.each("audit_ranges", lambda row: row | {"complete": False})
    assert found(tmp_path / "cut", history) == ()


def test_the_same_number_of_another_process_is_another_record(tmp_path: Path, history: History) -> None:
    """The audit found 20 of the second incarnation; that of the first is gone."""
    history.change("audit", {"offset": 20}, producer_incarnation=1)
    assert found(tmp_path, history) == (MissingOffsets("orders", 0, 20, 20),)


def test_topics_that_are_not_asked_for_are_left_out(tmp_path: Path, history: History) -> None:
    """Of a compacted one, records vanish rightly."""
    history.drop("audit", offset=20)
    assert missing(live(tmp_path, history), set()) == ()


def test_what_went_with_a_topic_that_was_made_again_is_not_missing(tmp_path: Path) -> None:
    """A record of the new topic is, though it was sent before that was made."""
    history = remade()
    assert found(tmp_path / "all", history) == ()
    history.drop("audit", seq=FIRST + 2)
    assert found(tmp_path / "lost", history) == (MissingOffsets("orders", 0, 2, 2),)
