"""The live log: complete after a crash, honest about a tear, loud about a full disk."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosk.core.errors import EventLogError
from chaosk.rundir.events.live import FLUSH_AFTER, LiveLog, LiveReader, read_live


def clocks(log: LiveLog, count: int, start: int = 0) -> None:
    """Write ``count`` numbered rows."""
    for number in range(start, start + count):
        log.write("clocks", (number, number))


def numbers(path: Path) -> list[int]:
    """The numbers of the rows that can be read."""
    found: list[Any] = read_live(path).table.column("monotonic").to_pylist()
    return found


def test_what_was_flushed_is_read_while_the_writer_goes_on(tmp_path: Path) -> None:
    """A reader sees every flushed batch of an open stream, and that it is not closed."""
    log = LiveLog(tmp_path / "w")
    clocks(log, 3)
    log.flush()
    clocks(log, 2, start=3)
    stream = read_live(tmp_path / "w" / "clocks.arrows")
    assert stream.table.column("monotonic").to_pylist() == [0, 1, 2]
    assert not stream.closed
    assert stream.torn is None
    log.close()


def test_a_closed_stream_says_so(tmp_path: Path) -> None:
    """The end mark is what tells a clean end from a killed writer."""
    with LiveLog(tmp_path / "w") as log:
        clocks(log, 5)
    stream = read_live(tmp_path / "w" / "clocks.arrows")
    assert (stream.table.num_rows, stream.closed, stream.torn) == (5, True, None)


def test_rows_and_columns_keep_their_order(tmp_path: Path) -> None:
    """Columns that were written before a flush come before its rows; nothing is lost between the two ways."""
    with LiveLog(tmp_path / "w") as log:
        log.write_columns("clocks", 2, {"monotonic": [0, 1], "wall": 0})
        clocks(log, 2, start=2)
        log.flush()
        clocks(log, 1, start=4)
    assert numbers(tmp_path / "w" / "clocks.arrows") == [0, 1, 2, 3, 4]


def test_a_log_that_wrote_nothing_leaves_no_file(tmp_path: Path) -> None:
    """Streams are made when they are needed."""
    LiveLog(tmp_path / "w").close()
    assert list((tmp_path / "w").iterdir()) == []


def test_a_closed_log_says_how_many_rows_it_wrote(tmp_path: Path) -> None:
    """Of each table and of this one, for the run it was told; a flush more or less changes nothing."""
    with LiveLog(tmp_path / "watcher", "run-1") as log:
        clocks(log, 2)
        log.flush()
        clocks(log, 3, start=2)
        log.write("groups", ("readers", "orders", 0, 7))
    rows = read_live(tmp_path / "watcher" / "stream_ends.arrows").table.to_pylist()
    said = [(row["writer"], row["table"], row["rows"], row["run_id"]) for row in rows]
    wrote = {"clocks": 5, "groups": 1, "stream_ends": 3}
    assert said == [("watcher", table, count, "run-1") for table, count in wrote.items()]


def test_a_log_that_wrote_nothing_says_so(tmp_path: Path) -> None:
    """Its writer was there: whoever looks for its word finds one."""
    LiveLog(tmp_path / "w", "run-1").close()
    (row,) = read_live(tmp_path / "w" / "stream_ends.arrows").table.to_pylist()
    assert (row["table"], row["rows"]) == ("stream_ends", 1)


def test_a_log_whose_owner_broke_off_says_nothing_of_its_rows(tmp_path: Path) -> None:
    """What it wrote is there, and nobody claims that it is all."""

    def broken_off() -> None:
        with LiveLog(tmp_path / "w", "run-1") as log:
            clocks(log, 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert numbers(tmp_path / "w" / "clocks.arrows") == [0]
    assert not (tmp_path / "w" / "stream_ends.arrows").exists()


def test_every_cut_of_a_stream_reads_as_a_prefix(tmp_path: Path) -> None:
    """Wherever the file ends, what is read is a whole number of flushes, and a tail that is torn is told of."""
    with LiveLog(tmp_path / "w") as log:
        for flush in range(6):
            clocks(log, 4, start=4 * flush)
            log.flush()
    raw = (tmp_path / "w" / "clocks.arrows").read_bytes()
    cut = tmp_path / "clocks.arrows"
    seen = set()
    for length in range(len(raw) + 1):
        cut.write_bytes(raw[:length])
        stream = read_live(cut)
        got = stream.table.column("monotonic").to_pylist()
        assert got == list(range(len(got)))
        assert len(got) % 4 == 0
        assert not stream.closed or length == len(raw)
        seen.add((len(got), stream.torn is None))
    assert {count for count, _ in seen} == {0, 4, 8, 12, 16, 20, 24}
    assert (12, False) in seen, "a cut in the middle of a batch is a tear"
    assert (12, True) in seen, "a cut between batches is none: a writer that was killed"


@settings(max_examples=200)
@given(place=st.integers(0, 10_000), change=st.integers(1, 255))
def test_a_damaged_byte_never_crashes_the_reader(
    tmp_path_factory: pytest.TempPathFactory, place: int, change: int
) -> None:
    """Whatever one wrong byte does, reading ends with rows and, where it stopped early, a reason."""
    folder = tmp_path_factory.mktemp("damage")
    with LiveLog(folder / "w") as log:
        clocks(log, 50)
        log.flush()
        clocks(log, 50, start=50)
    path = folder / "w" / "clocks.arrows"
    raw = bytearray(path.read_bytes())
    raw[place % len(raw)] ^= change
    path.write_bytes(raw)
    stream = read_live(path)
    assert stream.table.num_rows in {0, 50, 100}
    assert stream.table.num_rows == 100 or stream.torn is not None


def test_bytes_after_the_end_mark_are_told_of(tmp_path: Path) -> None:
    """Nothing may follow a closed stream: two writers in one file would be a defect."""
    with LiveLog(tmp_path / "w") as log:
        clocks(log, 1)
    path = tmp_path / "w" / "clocks.arrows"
    path.write_bytes(path.read_bytes() + b"more")
    assert "4 bytes follow its end mark" in str(read_live(path).torn)


def test_another_schema_is_not_read_as_ours(tmp_path: Path) -> None:
    """A stream under the name of another table is refused, not misread."""
    with LiveLog(tmp_path / "w") as log:
        clocks(log, 1)
    path = (tmp_path / "w" / "clocks.arrows").rename(tmp_path / "w" / "groups.arrows")
    stream = read_live(path)
    assert stream.table.num_rows == 0
    assert "another schema" in str(stream.torn)


def test_two_writers_in_one_folder_are_refused(tmp_path: Path) -> None:
    """A second process would overwrite the first one's evidence."""
    with LiveLog(tmp_path / "w") as log:
        clocks(log, 1)
    with pytest.raises(EventLogError, match="contains events already"):
        LiveLog(tmp_path / "w")


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    """A file in the way is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EventLogError, match="cannot make the folder"):
        LiveLog(tmp_path / "file" / "w")


def test_a_row_that_does_not_fit_fails_the_log(tmp_path: Path) -> None:
    """A defect of the writer is an error with the table's name, and the log does not pretend to be whole."""
    log = LiveLog(tmp_path / "w")
    log.write("clocks", (1,))
    with pytest.raises(EventLogError, match="clocks: a row does not fit"):
        log.flush()
    with pytest.raises(EventLogError, match="clocks: a row does not fit"):
        log.close()


def test_due_follows_the_oldest_row(tmp_path: Path) -> None:
    """The log becomes due FLUSH_AFTER seconds after the first row that waits, not after the last."""
    log = LiveLog(tmp_path / "w")
    assert not log.due()
    clocks(log, 1)
    assert not log.due()
    time.sleep(FLUSH_AFTER * 0.7)
    clocks(log, 1, start=1)
    time.sleep(FLUSH_AFTER * 0.5)
    assert log.due()
    log.flush()
    assert not log.due()
    log.close()


def test_threads_write_without_losing_rows(tmp_path: Path) -> None:
    """Rows from several threads, with flushes in between, are all there and none twice."""
    with LiveLog(tmp_path / "w") as log:

        def write(start: int) -> None:
            for number in range(start, start + 2000):
                log.write("clocks", (number, 0))
                if number % 97 == 0:
                    log.flush()

        threads = [threading.Thread(target=write, args=(2000 * each,)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(numbers(tmp_path / "w" / "clocks.arrows")) == list(range(8000))


def test_reading_holds_one_batch_at_a_time(tmp_path: Path) -> None:
    """The reader hands out batches as they were flushed: a long log does not have to fit in memory."""
    with LiveLog(tmp_path / "w") as log:
        for flush in range(5):
            clocks(log, 10, start=10 * flush)
            log.flush()
    reader = LiveReader(tmp_path / "w" / "clocks.arrows")
    assert [batch.num_rows for batch in reader] == [10] * 5
    assert reader.closed


WRITER = """
import os, struct, sys, time
from pathlib import Path
from chaosk.rundir.events.live import LiveLog
log = LiveLog(Path(sys.argv[1]))
known = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
number = 0
while True:
    log.write("clocks", (number, time.monotonic_ns()))
    written = time.monotonic_ns()
    number += 1
    if log.due():
        log.flush()
        print(number, flush=True)
    os.write(known, struct.pack("=q", written))
    if number % 50 == 0:
        time.sleep(0.001)
"""


@pytest.mark.parametrize("delay", [0.05, 0.17, 0.31])
def test_sigkill_costs_at_most_a_tenth_of_a_second(tmp_path: Path, delay: float) -> None:
    """After a SIGKILL at any moment the log is an unbroken prefix; what is lost was written within 100 ms.

    When each row was written the process notes beside the log; so it does not matter when it was let run.
    """
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "w"), str(tmp_path / "known")], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    stream = read_live(tmp_path / "w" / "clocks.arrows")
    got = stream.table.column("monotonic").to_pylist()
    assert got
    assert got == list(range(len(got)))
    assert not stream.closed
    known = [when for (when,) in struct.iter_unpack("=q", (tmp_path / "known").read_bytes())]
    lost = known[len(got) :]
    assert not lost or lost[-1] - lost[0] < 0.1e9


@pytest.mark.lab
def test_a_full_disk_is_one_clear_error_and_keeps_what_was_there(tmp_path: Path) -> None:
    """ENOSPC on a real file system: the flush fails, earlier batches stay readable, and the log stays failed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=True)
    try:
        log = LiveLog(disk / "w")
        flushed = 0

        def fill() -> None:
            nonlocal flushed
            while True:
                for row in range(100):
                    log.write("errors", ("w", 0, row, "_TRANSPORT", os.urandom(20).hex(), False))
                log.flush()
                flushed += 100

        with pytest.raises(EventLogError, match="No space left on device"):
            fill()
        stream = read_live(disk / "w" / "errors.arrows")
        assert stream.table.num_rows == flushed > 0
        assert stream.torn is None
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        with pytest.raises(EventLogError, match="No space left on device"):
            log.close()  # rows are missing: room that came later does not make the log whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)
