"""The event store: live streams become Parquet, every row once, with nothing hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosk.core.errors import EventLogError
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.store import close, length, read, scan, streams
from chaosk.rundir.paths import RunDir, create


@pytest.fixture
def rundir(tmp_path: Path) -> RunDir:
    """An empty run directory."""
    return create(tmp_path, "store")


def log(rundir: RunDir, writer: str, flushes: list[list[int]], *, closed: bool = True) -> Path:
    """A writer's clock rows, flush by flush; the path of its stream."""
    live = LiveLog(rundir.live / writer)
    for numbers in flushes:
        for number in numbers:
            live.write("clocks", (number, number))
        live.flush()
    if closed:
        live.close()
    return rundir.live / writer / "clocks.arrows"


def numbers(rundir: RunDir) -> list[int]:
    """What the table has."""
    found: list[Any] = read(rundir, "clocks").column("monotonic").to_pylist()
    return found


def test_every_table_gets_a_file_even_when_it_is_empty(rundir: RunDir) -> None:
    """The analysis reads every table with its explicit schema; none may be missing."""
    assert close(rundir).torn == ()
    assert {path.stem for path in rundir.events.iterdir()} == set(TABLES)
    for name in TABLES:
        assert pq.read_schema(rundir.events / f"{name}.parquet").remove_metadata().equals(SCHEMAS[name])


def test_rows_of_all_writers_are_in_the_file(rundir: RunDir) -> None:
    """Writer by writer, each in the order written."""
    log(rundir, "b", [[4, 5], [6]])
    log(rundir, "a", [[1], [2, 3]])
    close(rundir)
    assert numbers(rundir) == [1, 2, 3, 4, 5, 6]


def test_it_says_what_there_was_of_each_writer(rundir: RunDir) -> None:
    """By writer and table, for run.json: a stream that was not closed counts as far as it can be read."""
    log(rundir, "b", [[4, 5], [6]])
    log(rundir, "a", [[1]], closed=False)
    assert close(rundir).rows == {"a": {"clocks": 1}, "b": {"clocks": 3}}


def test_its_length_is_that_of_all_tables(rundir: RunDir) -> None:
    """Nothing before it is closed, then every row; a damaged table counts none, and is no error yet."""
    path = log(rundir, "a", [[1], [2, 3]])
    LiveLog(path.parent.with_name("b")).close()
    assert length(rundir) == 0
    close(rundir)
    assert length(rundir) == 3
    (rundir.events / "polls.parquet").write_bytes(b"damaged")
    assert length(rundir) == 3


def test_it_reads_the_same_before_and_after_closing(rundir: RunDir) -> None:
    """A run can be looked at while it is going on."""
    log(rundir, "a", [[1, 2]], closed=False)
    assert numbers(rundir) == [1, 2]
    close(rundir)
    assert numbers(rundir) == [1, 2]


def test_closing_twice_changes_nothing(rundir: RunDir) -> None:
    """A run whose closing was interrupted can be closed again, and the bytes are the same."""
    log(rundir, "a", [[1, 2], [3]])
    first = (close(rundir), [path.read_bytes() for path in sorted(rundir.events.iterdir())])
    second = (close(rundir), [path.read_bytes() for path in sorted(rundir.events.iterdir())])
    assert first == second
    assert not list(rundir.events.glob("*.unfinished"))


def test_a_torn_stream_is_kept_up_to_the_tear_and_told_of(rundir: RunDir) -> None:
    """The rows before the tear count; the tear is named with its writer, not with a path of this machine."""
    log(rundir, "a", [[1]])
    path = log(rundir, "writer-0", [[2], [3]], closed=False)
    path.write_bytes(path.read_bytes()[:-3])
    (torn,) = close(rundir).torn
    assert torn.startswith("writer-0/clocks.arrows: torn at byte ")
    assert str(rundir.root) not in torn
    assert numbers(rundir) == [1, 2]


def test_states_of_streams(rundir: RunDir) -> None:
    """Which are closed, which are not, and which are torn."""
    log(rundir, "a", [[1]])
    log(rundir, "b", [[2, 3]], closed=False)
    path = log(rundir, "c", [[4], [5]], closed=False)
    path.write_bytes(path.read_bytes()[:-1])
    found = [(each.writer, each.table, each.rows, each.closed, each.torn is None) for each in streams(rundir)]
    assert found == [("a", "clocks", 1, True, True), ("b", "clocks", 2, False, True), ("c", "clocks", 1, False, False)]


def test_small_flushes_become_large_row_groups(rundir: RunDir) -> None:
    """A batch per flush would make a Parquet file of tiny groups that nothing can read quickly."""
    log(rundir, "a", [[number] for number in range(300)])
    close(rundir)
    assert pq.ParquetFile(rundir.events / "clocks.parquet").num_row_groups == 1


def test_memory_is_bounded_by_the_group(rundir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written group by group, each as soon as it is full, and scanned the same way."""
    monkeypatch.setattr("chaosk.rundir.events.store._GROUP", 100)
    log(rundir, "a", [list(range(60 * flush, 60 * flush + 60)) for flush in range(10)])
    close(rundir)
    assert pq.ParquetFile(rundir.events / "clocks.parquet").num_row_groups == 5
    assert max(batch.num_rows for batch in scan(rundir, "clocks")) <= 120
    assert numbers(rundir) == list(range(600))


def test_a_damaged_file_is_one_clear_error(rundir: RunDir) -> None:
    """Parquet that cannot be read is named."""
    close(rundir)
    (rundir.events / "clocks.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(EventLogError, match=r"clocks\.parquet: cannot read it"):
        read(rundir, "clocks")


def test_a_place_that_cannot_be_written_is_one_clear_error(rundir: RunDir) -> None:
    """The live events are said to be intact, and nothing half-written is left."""
    log(rundir, "a", [[1]])
    (rundir.events / "clocks.parquet").mkdir()
    with pytest.raises(EventLogError, match=r"clocks\.parquet: cannot write it.*the live events are intact"):
        close(rundir)
    assert not list(rundir.events.glob("*.unfinished"))


def test_it_archives_small(rundir: RunDir) -> None:
    """A row of sends costs ten bytes at most once it is archived."""
    live = LiveLog(rundir.live / "writer-0")
    rows = 100_000
    live.write_columns("sends", rows, sends(rows))
    live.close()
    close(rundir)
    assert (rundir.events / "sends.parquet").stat().st_size / rows < 10
    assert (rundir.live / "writer-0" / "sends.arrows").stat().st_size / rows < 46


def sends(rows: int) -> dict[str, Any]:
    """Columns of a producer at 500/s on three partitions, with latencies that vary."""
    start = 3_000_000_000_000
    scheduled = [start + 2_000_000 * seq for seq in range(rows)]
    return {
        "probe": "writer", "incarnation": 0, "topic": "orders", "outcome": "ok", "seq": list(range(rows)),
        "scheduled": scheduled, "invoked": [at + 540_000 for at in scheduled],
        "completed": [at + 5_000_000 + (seq * 7919) % 9973 * 100 for seq, at in enumerate(scheduled)],
        "partition": [seq % 3 for seq in range(rows)], "offset": [seq // 3 for seq in range(rows)],
    }  # fmt: skip


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "writer-0", "watcher"]),
        st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=5),
    )
)
def test_no_row_is_lost_or_made_up(
    tmp_path_factory: pytest.TempPathFactory, writers: dict[str, list[list[int]]]
) -> None:
    """Whatever was written by whom in however many flushes: all of it, once."""
    rundir = create(tmp_path_factory.mktemp("runs"), "store")
    for name, flushes in writers.items():
        log(rundir, name, flushes)
    assert close(rundir).torn == ()
    assert numbers(rundir) == [each for name in sorted(writers) for flush in writers[name] for each in flush]
