"""Every table has an end: what was written is there, or a guard says by name what is not; absence proves nothing."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, ns
from analysis.sealing import Row, change, rows, seal
from analysis.test_guards import progress_of
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.guards import guards
from chaosk.analysis.process import close_events
from chaosk.core.errors import AnalysisError
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.writer_reports import WRITTEN_BY, written_by
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.long


def history() -> History:
    """A whole run with rows of every stream that the guards look at."""
    made = History(records=50)
    made.commit(50, 20)
    made.add("groups", group="readers", offset=50)
    made.add("host_clocks", host="node1", at=0, offset=1, error=1)
    made.add("errors", probe="writer", incarnation=0, at=3, error="_TRANSPORT", message="gone", fatal=False)
    made.add("decisions", at=ns(0), wall=0, who="anna", what="note", text="begun")
    return made


@pytest.fixture
def sealed(tmp_path: Path) -> RunDir:
    """Its run directory, sealed."""
    return seal(history().write(tmp_path / "run"))


def told(rundir: RunDir) -> dict[str, list[str]]:
    """What the guards say of a run directory, by name."""
    made, found = history(), dict[str, list[str]]()
    made.rows |= {table: rows(rundir, table) for table in ("sends", "reads", "polls", "commits")}
    case = read_case(rundir)
    for guard in guards(case, progress_of(case, made)):
        found.setdefault(guard.guard, []).append(guard.what)
    return found


def test_every_table_is_some_writers() -> None:
    """A table that nobody is known to write could be shortened without anybody's word on it."""
    known = {table for writer in (*WRITTEN_BY, "writer-0") for table in written_by(writer)}
    assert known == set(TABLES) - {"stream_ends"}


def test_what_was_written_is_there(sealed: RunDir) -> None:
    """A run whose rows are as many as their writers say meets every guard."""
    assert told(sealed) == {}


def test_a_run_of_an_older_version_is_not_held_to_it(tmp_path: Path) -> None:
    """No writer says anything, run.json names none, and the table is not there."""
    rundir = history().write(tmp_path / "run")
    for table in ("stream_ends", "heartbeats"):
        (rundir.events / f"{table}.parquet").unlink()
    assert told(rundir) == {}


@pytest.mark.parametrize(
    "table",
    [
        "audit", "audit_ranges", "groups", "partitions", "offsets", "faults", "phases", "clocks", "host_clocks",
        "decisions", "errors", "commits", "polls", "assignments", "fetched", "sends", "reads", "tallies",
        "incarnations", "ends", "stream_ends",
    ],
)  # fmt: skip
def test_a_row_less_or_more_is_told_with_its_table(sealed: RunDir, table: str) -> None:
    """The last row gone, and then the first one there twice: each time a guard names the table."""
    whole = rows(sealed, table)
    for wrong in (whole[:-1], [*whole, whole[0]]):
        change(sealed, table, lambda _, wrong=wrong: wrong)  # type: ignore[misc] # a default for a loop's variable
        found = told(sealed)["stream_incomplete"]
        assert any(f"the event table {table}:" in what for what in found), found
        assert f"{len(wrong):,}" in " ".join(found)


def test_a_table_without_rows_is_told(sealed: RunDir) -> None:
    """All of the run's decisions and then their very file are gone: a run without it is not taken for an old one."""
    change(sealed, "decisions", lambda _: [])
    assert "decisions: 1 rows of it were written, and 0 are there" in told(sealed)["stream_incomplete"][0]
    (sealed.events / "decisions.parquet").unlink()
    assert "decisions: 1 rows of it were written, and it is missing" in told(sealed)["stream_incomplete"][0]


def test_a_table_that_was_deleted_is_told_or_made_again(sealed: RunDir) -> None:
    """The audit's file is gone: from its live streams it comes back, and without them a guard names it."""
    path = sealed.events / "audit.parquet"
    with LiveLog(sealed.live / "audit") as log:
        for row in rows(sealed, "audit"):
            log.write("audit", tuple(row.values()))
    path.unlink()
    close_events(sealed)
    assert told(sealed) == {}
    shutil.rmtree(sealed.live / "audit")
    path.unlink()
    close_events(sealed)
    assert "audit: 100 rows of it were written, and 0 are there" in told(sealed)["stream_incomplete"][0]


def test_a_verdict_does_not_outlive_the_events_it_was_given_on(sealed: RunDir) -> None:
    """Judged again on a table that is damaged, a run has no verdict: least of all the one from before."""
    sealed.verdict.write_text("{}")
    (sealed.events / "sends.parquet").write_bytes(b"damaged")
    with pytest.raises(AnalysisError, match="damaged"):
        analyze(None, sealed)  # type: ignore[arg-type] # it does not come so far as to ask Spark
    assert not sealed.verdict.exists()


def test_a_writer_without_a_word_is_told(sealed: RunDir) -> None:
    """The watcher was started and left no mark; without the table nobody did."""
    change(sealed, "stream_ends", lambda all_: [row for row in all_ if row["writer"] != "watcher"])
    assert any(what.startswith("watcher left no word") for what in told(sealed)["stream_incomplete"])
    (sealed.events / "stream_ends.parquet").unlink()
    found = told(sealed)["stream_incomplete"]
    for writer in ("audit", "run", "watcher", "writer-0", "reader-0"):
        assert any(what.startswith(f"{writer} left no word") for what in found)


@pytest.mark.parametrize("phase", ["baseline", "timeline", "settle", "drain", "audit"])
def test_a_phase_that_nobody_wrote_of_is_told(tmp_path: Path, phase: str) -> None:
    """All counts agree and the run says that it went to its end: but nothing says that it waited, or looked."""
    made = history()
    made.drop("phases", phase=phase)
    assert (
        f"nothing says that the run had the phase {phase}" in told(seal(made.write(tmp_path / "run")))["run_broken_off"]
    )


def test_a_process_that_nobody_wrote_of_is_told(tmp_path: Path) -> None:
    """A second process of the reader had all of the last records, and the row of its start is gone."""
    made = history()
    made.each("reads", lambda row: row | ({"incarnation": 1} if row["offset"] >= 40 else {}))
    made.add("ends", probe="reader", incarnation=1, at=21, scheduled=0, rows=10)
    made.change("ends", {"probe": "reader", "incarnation": 0}, rows=40)
    made.record["probes"].append({"probe": "reader", "incarnation": 1, "ended_by": "stop", "exit_status": 0})
    rundir = made.write(tmp_path / "run")
    start = {**rows(rundir, "incarnations")[-1], "probe": "reader", "incarnation": 1}
    change(rundir, "incarnations", lambda all_: [*all_, start])
    seal(rundir)
    change(rundir, "incarnations", lambda all_: all_[:-1])
    found = told(rundir)["stream_incomplete"]
    assert "reader-1 has events, and no word of its start and its settings" in found


def test_another_runs_stream_is_told(sealed: RunDir) -> None:
    """The audit of another run, with as many rows: its mark gives it away."""
    change(sealed, "stream_ends", lambda all_: [row | _other(row) for row in all_])
    assert told(sealed) == {"stream_incomplete": ["what audit wrote is of the run r2, and not of r1"]}


def _other(row: Row) -> Row:
    return {"run_id": "r2"} if row["writer"] == "audit" else {}


def test_a_plan_of_another_run_is_told(sealed: RunDir) -> None:
    """plan.json says what is judged: one from another run has other topics and expectations."""
    plan = json.loads(sealed.plan.read_text("utf-8"))
    sealed.plan.write_text(json.dumps(plan | {"run_id": "r2"}), "utf-8")
    assert "plan.json is of the run r2, and run.json of the run r1" in told(sealed)["stream_incomplete"]


def test_a_process_that_a_step_killed_leaves_no_mark(tmp_path: Path) -> None:
    """It could not; one that died by itself is told, once, as a log without an end."""
    made = history()
    made.drop("ends", probe="reader")
    made.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    assert told(seal(made.write(tmp_path / "killed"), "reader-0")) == {}
    made.record["probes"][0] |= {"ended_by": "itself"}
    found = told(seal(made.write(tmp_path / "died"), "reader-0"))
    assert set(found) == {"log_truncated", "probe_died"}


def test_one_that_a_step_ended_cleanly_has_one(tmp_path: Path) -> None:
    """`stop_probe` lets it close its log: no mark is no excuse then."""
    made = history()
    made.record["probes"][0] |= {"ended_by": "step", "exit_status": 0}
    assert set(told(seal(made.write(tmp_path / "run"), "reader-0"))) == {"stream_incomplete"}


# --- absence proves nothing ---------------------------------------------------------------------------------------


@pytest.fixture
def judged(spark: SparkSession) -> Callable[[RunDir, str], Any]:
    """Judges a run directory by one check."""

    def judge(rundir: RunDir, name: str) -> Any:
        return analyze(spark, rundir, {name: checks()[name]})

    return judge


@pytest.mark.parametrize(
    ("check", "table", "gone"),
    [
        ("lost", "audit", {"offset": 20}),
        ("unseen", "reads", {"offset": 20}),
        ("commit_skip", "reads", {"offset": 20}),
        ("unknown_value", "incarnations", {"probe": "writer"}),
        ("poll_skip", "reads", {"offset": 20}),
    ],
)
def test_what_is_not_there_is_not_proven(judged: Any, tmp_path: Path, check: str, table: str, gone: Row) -> None:
    """A violation where the run is whole; the same rows missing from a table that is known to lack some are none."""

    def without(all_: list[Row]) -> list[Row]:
        return [row for row in all_ if any(row[name] != value for name, value in gone.items())]

    whole = history().write(tmp_path / "whole")
    change(whole, table, without)
    counts = json.loads(whole.run.read_text("utf-8"))
    assert any(finding.check == check for finding in judged(seal_as_is(whole, counts), check).findings)

    lacking = seal(history().write(tmp_path / "lacking"))
    change(lacking, table, without)
    verdict = judged(lacking, check)
    assert verdict.findings == ()
    assert verdict.verdict is Outcome.INCONCLUSIVE
    named = {guard.guard: guard.what for guard in verdict.guards}
    assert f"rows of the event table {table}" in named[f"{check}_unproven"]
    streams = [guard.what for guard in verdict.guards if guard.guard == "stream_incomplete"]
    assert any(f"the event table {table}:" in what for what in streams)


def seal_as_is(rundir: RunDir, record: Row) -> RunDir:
    """A run as an older version recorded it, whose tables and end markers agree: nobody knows of any other row."""
    counts = Counter(row["probe"] for table in ("sends", "reads") for row in rows(rundir, table))
    change(rundir, "ends", lambda all_: [row | {"rows": counts[row["probe"]]} for row in all_])
    assert "streams" not in record
    return rundir
