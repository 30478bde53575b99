"""Outcomes as rows: what delivery reports say, many at a time, and what never got that far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message
from hypothesis import given
from hypothesis import strategies as st

from chaosk.probes._outcomes import FAIL, INFO, OK
from chaosk.probes._sends import Sends
from chaosk.probes._tally import Tally
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Encoder

ENCODER = Encoder("run", "writer", 2, 120)


class Bench:
    """A producer's outcomes with a real log."""

    def __init__(self, folder: Path, *, sent_once: bool = False, told_offsets: bool = True) -> None:
        self._folder = folder
        self._log = LiveLog(folder)
        self.sends = Sends(
            self._log, ("writer", 2, "orders"), ENCODER.body_at, Tally(), sent_once=sent_once, told_offsets=told_offsets
        )

    def rows(self) -> list[dict[str, Any]]:
        """What was written."""
        self._log.close()
        path = self._folder / "sends.arrows"
        return list(read_live(path).table.to_pylist()) if path.exists() else []


def report(seq: int, error: str | None = None, partition: int = 1, offset: int = -1001) -> Message:
    """The delivery report of one record, due at 1000 times its number."""
    found = KafkaError(getattr(KafkaError, error)) if error else None
    return Message(
        topic="orders", partition=partition, offset=offset, value=ENCODER.encode(seq, 1000 * seq), error=found
    )


def test_an_acknowledged_record(tmp_path: Path) -> None:
    """Every column of it, none of another kind of row."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(1, 50)
    bench.sends.reported([report(0, offset=7)], [(90, 1)])
    assert bench.rows() == [{
        "probe": "writer", "incarnation": 2, "seq": 0, "topic": "orders", "partition": 1, "scheduled": 0, "invoked": 50,
        "completed": 90, "outcome": "ok", "error": None, "offset": 7, "resend_of": None, "txn": None,
        "producer_epoch": None,
    }]  # fmt: skip
    assert (bench.sends.counts[OK], bench.sends.rows, bench.sends.last_error) == (1, 1, None)


def test_an_acknowledgement_without_a_place(tmp_path: Path) -> None:
    """With acks=0, or implied by a later one, the broker names no offset: the row says that it is unknown."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(1, 50)
    bench.sends.reported([report(0)], [(90, 1)])
    (row,) = bench.rows()
    assert (row["outcome"], row["offset"], row["partition"]) == ("ok", None, 1)


def test_without_answers_offsets_are_made_up(tmp_path: Path) -> None:
    """With acks=0 librdkafka counts a batch up from -1001, so that the record after the 1,001st seems to be at 0."""
    bench = Bench(tmp_path / "w", told_offsets=False)
    bench.sends.outstanding.sent(3, 50)
    bench.sends.reported([report(seq, offset=seq - 1) for seq in range(3)], [(90, 3)])
    assert [row["offset"] for row in bench.rows()] == [None, None, None]


def test_a_refused_batch_has_no_offsets(tmp_path: Path) -> None:
    """Its client counts its records up from -1: all but the first would seem to be at the begin of the log."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(4, 50)
    refused = [report(seq, "INVALID_PRODUCER_EPOCH", offset=seq - 1) for seq in range(3)]
    bench.sends.reported([*refused, report(3, offset=40)], [(90, 4)])
    assert [row["offset"] for row in bench.rows()] == [None, None, None, 40]


def test_reports_have_the_time_of_their_poll(tmp_path: Path) -> None:
    """Reports that one poll brought share a time; those of the next have another."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(2, 10)
    bench.sends.outstanding.sent(3, 20)
    bench.sends.reported([report(seq, offset=seq) for seq in (1, 0, 2, 4, 3)], [(100, 2), (200, 3)])
    assert [(row["seq"], row["invoked"], row["completed"]) for row in bench.rows()] == [
        (1, 10, 100), (0, 10, 100), (2, 20, 200), (4, 20, 200), (3, 20, 200),
    ]  # fmt: skip


def test_errors_among_acknowledgements(tmp_path: Path) -> None:
    """Each row has its own outcome, error and place; the counts and the last error follow."""
    bench = Bench(tmp_path / "w", sent_once=True)
    bench.sends.outstanding.sent(4, 10)
    reports = [report(0, offset=5), report(1, "MSG_SIZE_TOO_LARGE"), report(2, "_TRANSPORT"), report(3, offset=6)]
    bench.sends.reported(reports, [(100, 4)])
    assert [(row["outcome"], row["error"], row["offset"]) for row in bench.rows()] == [
        ("ok", None, 5), ("fail", "MSG_SIZE_TOO_LARGE", None), ("info", "_TRANSPORT", None), ("ok", None, 6),
    ]  # fmt: skip
    assert dict(bench.sends.counts) == {OK: 2, FAIL: 1, INFO: 1}
    assert bench.sends.last_error == "_TRANSPORT"


def test_a_rejection_after_retries_is_in_doubt(tmp_path: Path) -> None:
    """The same error is definite for a producer that sends once, and open for one that retries."""
    bench = Bench(tmp_path / "w", sent_once=False)
    bench.sends.outstanding.sent(1, 10)
    bench.sends.reported([report(0, "MSG_SIZE_TOO_LARGE")], [(100, 1)])
    assert [row["outcome"] for row in bench.rows()] == ["info"]


def test_what_the_client_refused_was_never_sent(tmp_path: Path) -> None:
    """A failure with both times, and nothing of it is outstanding."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(2, 10)
    bench.sends.refused((1, 1000), None, "_QUEUE_FULL")
    assert bench.sends.outstanding.left() == [(0, 10)]
    (row,) = bench.rows()
    assert (row["seq"], row["scheduled"], row["invoked"], row["outcome"]) == (1, 1000, 10, "fail")
    assert (row["error"], row["partition"], row["offset"]) == ("_QUEUE_FULL", None, None)
    assert row["completed"] > 10
    assert bench.sends.last_error == "_QUEUE_FULL"


def test_what_was_never_reported_is_in_doubt(tmp_path: Path) -> None:
    """A row without an end: it may have been written."""
    bench = Bench(tmp_path / "w")
    bench.sends.outstanding.sent(1, 10)
    bench.sends.never_reported((0, 5), 3, 10)
    (row,) = bench.rows()
    assert (row["outcome"], row["completed"], row["error"], row["partition"]) == ("info", None, None, 3)
    assert bench.sends.counts[INFO] == 1


def test_no_reports_are_no_rows(tmp_path: Path) -> None:
    """A quiet tick writes nothing."""
    bench = Bench(tmp_path / "w")
    bench.sends.reported([], [])
    assert bench.rows() == []


@given(
    st.lists(
        st.tuples(st.sampled_from([None, "_TRANSPORT", "_MSG_TIMED_OUT"]), st.integers(0, 5)), min_size=1, max_size=40
    ),
    st.randoms(use_true_random=False),
)
def test_every_record_has_one_row(
    tmp_path_factory: pytest.TempPathFactory, fates: list[tuple[str | None, int]], random: Any
) -> None:
    """Whatever the order of the reports and their errors: each record once, with its own fate and deadline."""
    bench = Bench(tmp_path_factory.mktemp("sends") / "w")
    bench.sends.outstanding.sent(len(fates), 10)
    order = random.sample(range(len(fates)), len(fates))
    bench.sends.reported([report(seq, fates[seq][0], fates[seq][1], 100 + seq) for seq in order], [(100, len(fates))])
    rows = bench.rows()
    assert [row["seq"] for row in rows] == order
    for row in rows:
        error, partition = fates[row["seq"]]
        assert (row["error"], row["partition"], row["scheduled"]) == (error, partition, 1000 * row["seq"])
        assert row["outcome"] == (OK if error is None else INFO)
        assert row["offset"] == (100 + row["seq"] if error is None else None)
    assert sum(bench.sends.counts.values()) == bench.sends.rows == len(fates)
