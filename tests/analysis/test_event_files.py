"""Event tables that cannot be read: one error that names the file and what to do."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from analysis.history import History

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.coordinator_outages import coordinator_outages
from chaosk.analysis.event_files import read
from chaosk.analysis.glances.rows import EventRows
from chaosk.core.errors import AnalysisError


def test_rows_are_chosen_by_columns_and_a_condition(tmp_path: Path) -> None:
    """Of fifty sends the one that is asked for."""
    rundir = History(records=50).write(tmp_path / "run")
    assert read(rundir.events, "sends", ["seq"], pc.field("offset") == 7).to_pylist() == [{"seq": 7}]


def test_a_long_table_has_many_parts_each_with_its_own_words(tmp_path: Path) -> None:
    """Probes that only later rows name: the case counts all rows, and a column has one code for each word."""
    history = History(records=50)
    history.worker("other", started=5, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    for seq in range(10):
        history.send(seq, 15 + seq / 10, probe="other", offset=60 + seq)
    rundir = history.write(tmp_path / "run")
    path = rundir.events / "sends.parquet"
    pq.write_table(pq.read_table(path).sort_by([("probe", "descending")]), path, row_group_size=7)
    case = read_case(rundir)
    assert case.rows["sends"] == 60
    rows = EventRows(case)
    probes = rows.column("sends", "probe")
    assert {rows.word("probe", code): int((probes == code).sum()) for code in set(probes.tolist())} == {
        "writer": 50, "other": 10,
    }  # fmt: skip


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_table_that_cannot_be_read_is_one_clear_error(tmp_path: Path, damage: str) -> None:
    """Also where it is read long after the case: the file, what is wrong, and the live streams as the way out."""
    rundir = History(records=50).write(tmp_path / "run")
    case = read_case(rundir)
    path = rundir.events / "brokers.parquet"
    case.rows["brokers"] = 1
    path.unlink() if damage == "missing" else path.write_bytes(b"PAR1 no PAR1")
    with pytest.raises(AnalysisError, match=f"^{path}: the event table is {damage}.*{rundir.live} still holds"):
        coordinator_outages(case)
