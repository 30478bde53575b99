"""What a host says of its logs, read: what it means, and everything that may be wrong with it."""

from __future__ import annotations

import pytest

from chaosk.core.errors import StepError
from chaosk.run.replica_logs.parse import Batch, Marker, TransactionSpan, read

TWO_CLIENTS = """\
log orders-0
segment 0
batches 0 19 7 0
batches 20 22 8 3
batches 23 25 7 0
marker 26 7 0 COMMIT
batches 27 28 8 3
marker 29 8 4 ABORT
batches 30 31 7 0
reached 31
segment 32
marker 32 7 0 ABORT
batches 33 33 8 4
reached 33
log orders-1
segment 5
status 0
"""


def test_a_marker_ends_what_its_producer_wrote_before_it_and_after_the_marker_before() -> None:
    """Producers interleave, a fenced one is ended by a higher epoch, and a transaction goes on in the next segment."""
    said = read("node1", TWO_CLIENTS)
    assert said.stopped is None
    log = said.logs["orders-0"]
    assert (log.first, log.end, log.trouble) == (0, 34, None)
    assert log.markers == [Marker(26, 7, 0, "commit"), Marker(29, 8, 4, "abort"), Marker(32, 7, 0, "abort")]
    assert log.stretches == [
        TransactionSpan(0, 19, 7, 0, 26), TransactionSpan(20, 22, 8, 3, 29), TransactionSpan(23, 25, 7, 0, 26),
        TransactionSpan(27, 28, 8, 3, 29), TransactionSpan(30, 31, 7, 0, 32), TransactionSpan(33, 33, 8, 4, None),
    ]  # fmt: skip


def test_an_empty_log_ends_where_it_begins() -> None:
    """A partition without records has a segment all the same."""
    log = read("node1", TWO_CLIENTS).logs["orders-1"]
    assert (log.first, log.end, log.markers, log.stretches, log.trouble) == (5, 5, [], [], None)


def test_batches_are_told_with_epoch_and_checksum() -> None:
    """Old ones have no leader epoch."""
    log = read("node1", "log a-0\nsegment 0\nbatch 0 9 -1 77\nbatch 10 12 3 88\nreached 12\nstatus 0\n").logs["a-0"]
    assert log.batches == [Batch(0, 9, -1, 77), Batch(10, 12, 3, 88)]
    assert (log.end, log.trouble, log.stretches) == (13, None, [])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("log a-0\nsegment 0\nbatches 0 1 7 0\n", "the tool did not get to its end"),
        ("log a-0\nsegment 0\nbatches 0 1 7 0\nbatch", "the tool did not get to its end"),
        ("log a-0\nsegment 0\nreached 1\nstatus 1\n", "the tool ended with 1"),
        ("log a-0\nsegment 0\nfull\nstatus 0\n", "there is more than can be fetched"),
        ("log a-0\nsegment 0\nstrange Found 3 invalid bytes\nstatus 0\n", "in the output of the tool: Found 3 invalid"),
        ("absent a-0\nstatus 0\n", "it is in none of the broker's data directories"),
    ],
)
def test_what_is_missing_is_told(said: str, why: str) -> None:
    """Cut short, failed, too much, not understood or not there: the log is in trouble, and says why."""
    trouble = read("node1", said).logs["a-0"].trouble
    assert trouble is not None
    assert why in trouble


def test_logs_before_the_end_are_whole() -> None:
    """What stopped the tool in one log has nothing to do with those it had read."""
    said = read("node1", "log a-0\nsegment 0\nreached 1\nlog a-1\nsegment 0\n")
    assert said.logs["a-0"].trouble is None
    assert said.logs["a-1"].trouble == said.stopped == "the tool did not get to its end"


@pytest.mark.parametrize(
    "line",
    [
        "marker 1 2 3 COMMITTED",
        "marker 1 2 COMMIT",
        "batches 0 1 -1 0",
        "batches 0 1",
        "batch 0 1 3",
        "batch 0 1 x 4",
        "segment",
        "hello",
        "",
        "log a b",
    ],
)
def test_a_line_of_another_form_is_refused(line: str) -> None:
    """Nothing is guessed: the error names the host and shows the line."""
    with pytest.raises(StepError, match="node1: cannot parse the dump of its logs"):
        read("node1", f"log a-0\n{line}\nstatus 0\n")


def test_what_belongs_to_no_log_is_refused() -> None:
    """A marker before any log's name is nobody's."""
    with pytest.raises(StepError, match="node1: the dump of its logs has a line without a log: marker 1 2 3 COMMIT"):
        read("node1", "marker 1 2 3 COMMIT\nstatus 0\n")
