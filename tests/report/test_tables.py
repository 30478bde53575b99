"""Event tables: read batch by batch, whatever is in them, or told of when they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sample_run import write_table

from chaosk.report import tables
from chaosk.report.tables import NONE, Frame, UnreadableTable, frames
from chaosk.rundir.events import TABLES
from chaosk.rundir.paths import RunDir

Make = Callable[[str, list[dict[str, Any]]], Frame]


def test_a_missing_table_has_no_rows(tmp_path: Path) -> None:
    """A run that was broken off early has not every table; that is no error."""
    assert list(frames(RunDir(tmp_path), "sends", "probe")) == []


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    """A table may be there without a row."""
    run = RunDir(tmp_path)
    write_table(run, "errors", {"probe": []})
    assert sum(len(frame) for frame in frames(run, "errors", "probe", "at")) == 0


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not Parquet at all", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_damaged_table_is_told_of_by_name(tmp_path: Path, content: bytes) -> None:
    """A torn Parquet file becomes one error that names it."""
    run = RunDir(tmp_path)
    run.events.mkdir()
    (run.events / "sends.parquet").write_bytes(content)
    with pytest.raises(UnreadableTable, match=r"events/sends\.parquet cannot be read"):
        list(frames(run, "sends", "probe"))


@pytest.mark.parametrize("columns", [{"other": [1]}, {"at": ["noon"]}, {"at": [[1]]}, {"at": [1.5]}])
def test_a_table_of_another_shape_is_told_of(tmp_path: Path, columns: dict[str, list[Any]]) -> None:
    """A file of another version, without a column or with another kind of it, is unreadable and not a crash."""
    run = RunDir(tmp_path)
    run.events.mkdir()
    pq.write_table(pa.table(columns), run.events / "reads.parquet")
    with pytest.raises(UnreadableTable, match=r"events/reads\.parquet cannot be read: its column 'at'"):
        list(frames(run, "reads", "at"))


def test_every_column_of_every_table_can_be_read(pristine: RunDir) -> None:
    """The kinds that are required are those that runs write."""
    for table in pristine.events.glob("*.parquet"):
        names = [column.name for column in TABLES[table.stem].columns]
        assert sum(len(frame) for frame in frames(pristine, table.stem, *names)) > 0


def test_long_tables_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by the batch, and no row is lost between two."""
    monkeypatch.setattr(tables, "BATCH", 100)
    run = RunDir(tmp_path)
    write_table(run, "clocks", {"monotonic": np.arange(1050), "wall": np.arange(1050)})
    sizes = [len(frame) for frame in frames(run, "clocks", "monotonic")]
    assert sum(sizes) == 1050
    assert max(sizes) <= 100


def test_empty_numbers_are_none(frame: Make) -> None:
    """An empty number is a value that no time, offset or partition has."""
    rows = frame("sends", [{"probe": "w", "completed": None}, {"probe": "w", "completed": 5}])
    assert rows.ints("completed").tolist() == [NONE, 5]


def test_names_are_told_apart_by_number(frame: Make) -> None:
    """A text column is its different texts and a number for each row; an empty text is none of them."""
    texts, codes = frame("sends", [{"error": "_A"}, {"error": None}, {"error": "_B"}, {"error": "_A"}]).names("error")
    assert [texts[code] if code >= 0 else None for code in codes.tolist()] == ["_A", None, "_B", "_A"]


def test_names_survive_a_round_trip_through_parquet(tmp_path: Path) -> None:
    """Texts are read as dictionaries; two batches with different ones still say the same."""
    run = RunDir(tmp_path)
    write_table(run, "phases", {"phase": ["baseline", "settle", "baseline"], "began": [1, 2, 3]})
    (only,) = frames(run, "phases", "phase", "began")
    assert {text: rows.tolist() for text, rows in only.masks("phase")} == {
        "baseline": [True, False, True],
        "settle": [False, True, False],
    }


def test_masks_give_every_row_once(frame: Make) -> None:
    """Rows without a text are one group too: nothing is dropped in silence."""
    rows = frame("sends", [{"error": None}, {"error": "_A"}, {"error": None}])
    assert {text: mask.sum() for text, mask in rows.masks("error")} == {"": 2, "_A": 1}


def test_equal_finds_a_text_or_nothing(frame: Make) -> None:
    """A text that does not occur holds for no row."""
    rows = frame("sends", [{"outcome": "ok"}, {"outcome": "fail"}])
    assert rows.equal("outcome", "ok").tolist() == [True, False]
    assert rows.equal("outcome", "info").tolist() == [False, False]


def test_where_keeps_the_rows_of_a_mask(frame: Make) -> None:
    """Filtering keeps the other columns beside their rows."""
    rows = frame("sends", [{"seq": 1, "probe": "a"}, {"seq": 2, "probe": "b"}])
    kept = rows.where(np.array([False, True]))
    assert (kept.ints("seq").tolist(), kept.names("probe")[0][kept.names("probe")[1][0]]) == ([2], "b")


def test_a_link_in_place_of_a_table_is_not_followed(tmp_path: Path) -> None:
    """A run directory from elsewhere does not choose which files of this machine are read."""
    theirs, mine = RunDir(tmp_path / "theirs"), RunDir(tmp_path / "mine")
    write_table(theirs, "clocks", {"monotonic": [1], "wall": [1]})
    mine.events.mkdir(parents=True)
    (mine.events / "clocks.parquet").symlink_to(theirs.events / "clocks.parquet")
    with pytest.raises(UnreadableTable, match="is a symbolic link"):
        list(frames(mine, "clocks", "monotonic"))
