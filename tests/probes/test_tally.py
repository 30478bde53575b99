"""Tallies: what they count, when they are written, and that they never are on disk before what they stand for."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaosk.core.errors import EventLogError
from chaosk.probes._tally import Sent, Tallies, Tally, known
from chaosk.rundir.events.live import LiveLog, read_live

SECOND = 1_000_000_000


def acknowledged(*times: int) -> Sent:
    """Records that were due at 0 and acknowledged at these times."""
    numbers = np.arange(len(times))
    return Sent(np.zeros(len(times), np.int64), numbers, numbers, np.zeros(len(times), np.int64), np.array(times))


def figures(tally: Tally, what: str) -> list[tuple[Any, ...]]:
    """The rows of a tally about one thing: topic, partition, bucket, count, and nanoseconds."""
    rows = zip(*tally.columns().values(), strict=True)
    return [(*row[1:5], row[7]) for row in rows if row[0] == what]


def test_it_counts_by_outcome_place_and_latency() -> None:
    """Each portion adds to what was there; a partition that nobody knows is empty; zero is told of what never was."""
    tally = Tally()
    tally.sent("ok", "orders", acknowledged(1000, 3000))
    tally.sent("ok", "orders", acknowledged(5000))
    tally.sent("fail", "orders", Sent(known([None]), known([9]), known([None]), known([10]), known([12])))
    tally.sent("info", "orders", Sent(known([3]), known([10]), known([None]), known([10]), None))
    tally.read("orders", known([0, 1, 1]), known([5, 6, 7]))
    tally.polls += 2
    placed, *by_bucket = figures(tally, "ok")
    assert placed == ("orders", 0, None, 3, 9000)
    assert by_bucket == [(None, None, latency, 1, None) for latency in (1000, 3000, 5000)]
    assert figures(tally, "fail") == [("orders", None, None, 1, 2), (None, None, 2, 1, None)]
    assert figures(tally, "unanswered") == [("orders", 3, None, 1, 0)]
    assert figures(tally, "read") == [("orders", 0, None, 1, 0), ("orders", 1, None, 2, 0)]
    assert figures(tally, "poll") == [(None, None, None, 2, None)]
    assert figures(Tally(), "answer") == [(None, None, None, 0, None)]


def test_the_longest_gap_may_lie_between_two_portions() -> None:
    """Whichever is the longest: inside of a portion, or from the last of one to the first of the next."""
    tally = Tally()
    tally.sent("ok", "orders", acknowledged(10, 15))
    assert figures(tally, "gap")[0][-1] == 5
    tally.sent("ok", "orders", acknowledged(35, 36))
    assert figures(tally, "gap")[0][-1] == 20
    tally.sent("ok", "orders", acknowledged(37, 67))
    assert figures(tally, "gap")[0][-1] == 30


def test_many_small_portions_are_as_one_large_one() -> None:
    """However the reports come in, and beyond the number that is counted together."""
    one, many = Tally(), Tally()
    draw = np.random.default_rng(3)
    records = 5000
    partitions, offsets, times = (draw.integers(0, most, records) for most in (5, 99, SECOND))
    sent = Sent(partitions, np.arange(records), offsets, np.zeros(records, np.int64), np.sort(times))
    one.sent("ok", "orders", sent)
    for start in range(0, records, 7):
        many.sent("ok", "orders", sent.only(np.arange(start, min(start + 7, records))))
    assert many.columns() == one.columns()


def test_it_is_written_once_a_second_and_then_after_each_hundredth_of_its_age(tmp_path: Path) -> None:
    """So a kill costs a second of checking, or a hundredth, and a night leaves hundreds of tallies, not thousands.

    Histograms come whenever the age has doubled, and at the end.
    """
    with LiveLog(tmp_path / "w") as log:
        tallies = Tallies(log, ("writer", 0))
        tallies.tally.sent("ok", "orders", acknowledged(1000))
        for now in range(0, 400 * SECOND, SECOND // 20):
            tallies.keep(now)
        tallies.write(400 * SECOND)
    rows = read_live(tmp_path / "w" / "tallies.arrows").table.to_pylist()
    moments = sorted({(row["tally"], row["at"]) for row in rows})
    assert [number for number, _ in moments] == list(range(len(moments)))
    times = [at for _, at in moments]
    assert times[:3] == [SECOND, 2 * SECOND, 3 * SECOND]
    assert all(after - before >= SECOND for before, after in pairwise(times[:-1]))
    assert times[-2] >= 395 * SECOND
    assert 200 < len(times) < 260
    whole = [row["at"] / SECOND for row in rows if row["bucket"] is not None]
    assert len(whole) == 10
    assert [round(at, -1 if at > 100 else 0) for at in whole] == [1, 2, 4, 8, 16, 32, 64, 130, 260, 400]


@pytest.mark.parametrize("blocked", ["polls", "reads"])
def test_what_it_stands_for_is_on_disk_before_it(tmp_path: Path, blocked: str) -> None:
    """Written in whatever order: where a row cannot be written, neither the tally nor the end marker is there."""
    log = LiveLog(tmp_path / "w")
    log.write("ends", ("reader", 0, 9, 0, 0))
    Tallies(log, ("reader", 0)).write(9)
    log.write_columns("reads", 1, {
        "probe": "reader", "incarnation": 0, "assignment": 0, "poll": 0, "n": 0, "topic": "orders", "partition": 0,
        "offset": 0, "intact": False, "at": 8,
    })  # fmt: skip
    log.write("polls", ("reader", 0, 0, 7, 8, 1, None))
    (tmp_path / "w" / f"{blocked}.arrows").mkdir()
    with pytest.raises(EventLogError):
        log.flush()
    assert not (tmp_path / "w" / "tallies.arrows").exists()
    assert not (tmp_path / "w" / "ends.arrows").exists()
