"""The guard about last stable offsets below the high watermark when the audit read. No Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.held_back import held_back
from chaosk.rundir.verdict import Finding, Guard, Row, Severity


def said(folder: Path, *findings: Finding, complete: bool = True, **ends: int) -> tuple[Guard, ...]:
    """The guards of a run whose audit ended there at each isolation level."""
    history = History(records=50)
    for isolation, end in ends.items():
        history.change("audit_ranges", {"isolation": isolation}, end=end, complete=complete)
    return tuple(held_back(read_case(history.write(folder / "run")), findings))


def test_readers_of_committed_records_get_no_further(tmp_path: Path) -> None:
    """The log goes on to 60, and what is committed to 50: the partition and both offsets are named."""
    (guard,) = said(tmp_path, read_committed=50, read_uncommitted=60)
    assert guard.guard == "last_stable_behind"
    assert "nothing of orders-0 from offset 50 on, and the log ends at 60" in guard.what


@pytest.mark.parametrize("stable", [50, 51])
def test_a_log_that_is_committed_to_its_end_holds_nobody_back(tmp_path: Path, stable: int) -> None:
    """Near miss: the last stable offset is asked for last, and may be further when others write meanwhile."""
    assert said(tmp_path, read_committed=stable, read_uncommitted=50) == ()


def test_an_audit_that_broke_off_says_so_itself(tmp_path: Path) -> None:
    """Near miss: where it ended nobody knows, and that has a guard of its own."""
    assert said(tmp_path, read_committed=0, read_uncommitted=50, complete=False) == ()


@pytest.mark.parametrize(("partition", "count", "silent"), [(0, 1, True), (1, 1, False), (1, 30, True)])
def test_one_that_is_told_as_stuck_is_told_once(tmp_path: Path, partition: int, count: int, *, silent: bool) -> None:
    """Near miss: B10 names the partition, or has more rows than are shown. Another partition's is another matter."""
    row: Row = {"topic": "orders", "partition": partition}
    stuck = Finding(
        check="stuck_lso", rule="B10", title="stuck", severity=Severity.VIOLATION, count=count, evidence=(row,)
    )
    assert (said(tmp_path, stuck, read_committed=50, read_uncommitted=60) == ()) is silent
