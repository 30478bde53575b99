"""The self-check: rows that are what their probes counted, and rows that were tampered with, counted in both ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from analysis.history import History, Row, ns
from analysis.parted import ROWS, divide
from analysis.tallying import tallies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from chaosk.analysis.analyze import analyze
from chaosk.analysis.frames.figures import bucket
from chaosk.analysis.glances import rows
from chaosk.core.errors import AnalysisError
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.buckets import lower_bounds, numbers
from chaosk.rundir.events.fingerprint import hashed
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]
Change = Callable[[list[Row]], list[Row]]
Asked = Callable[[RunDir], Verdict]


@pytest.fixture(params=["whole", "in parts"])
def asked(spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Judges a run directory by its guards alone, tables read whole or, as those of a long run, in parts."""

    def judged(rundir: RunDir) -> Verdict:
        if request.param == "in parts":
            divide(rundir)
            monkeypatch.setattr(rows, "PART", ROWS)
        return analyze(spark, rundir, {})

    return judged


def history() -> History:
    """A run in which all went well, with sends of every outcome, some in no partition or never answered."""
    made = History(records=60)
    made.send(60, 3.0, completed=4.5, outcome="info", offset=None, error="_MSG_TIMED_OUT")
    made.send(61, 3.1, completed=3.1, outcome="fail", offset=None, partition=None, error="_QUEUE_FULL")
    made.send(62, 3.2, completed=None, outcome="info", offset=None, partition=None)
    return made


def told(verdict: Verdict) -> dict[str, str]:
    """By name what the guards about tallies say."""
    return {each.guard: each.what for each in verdict.guards if each.guard.startswith("tally")}


def tamper(rundir: RunDir, table: str, change: Change) -> None:
    """Rewrite an event table after the run."""
    path = rundir.events / f"{table}.parquet"
    rows = change(pq.read_table(path).to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[table]), path)


def changed(place: int, **values: Any) -> Change:
    """One row with other values."""
    return lambda rows: [*rows[:place], rows[place] | values, *rows[place + 1 :]]


def later(rows: list[Row]) -> list[Row]:
    """The seventh row's outcome came a microsecond later."""
    return changed(7, completed=rows[7]["completed"] + 1000)(rows)


def test_rows_that_are_what_was_counted(asked: Asked, tmp_path: Path) -> None:
    """Every outcome, no partition, no answer, deliveries and polls: nothing is said about them."""
    verdict = asked(history().write(tmp_path / "run"))
    assert told(verdict) == {}
    assert verdict.found is Outcome.PASS


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        ("sends", lambda rows: rows[:7] + rows[8:], "orders-0: it counted 60, its rows are 59"),
        ("sends", lambda rows: [*rows, rows[7]], "orders-0: it counted 60, its rows are 61"),
        ("sends", changed(7, outcome="info"), "sends acknowledged in orders-0: it counted 60, its rows are 59"),
        ("sends", later, "it counted 300,000,000 ns in all, its rows say 300,001,000 ns"),
        ("sends", changed(7, offset=1007), "sends acknowledged in orders-0: 60 both times, but not the same ones"),
        ("sends", lambda rows: [*rows[:7], rows[8], *rows[8:]], "60 both times, but not the same ones"),
        ("sends", changed(62, completed=ns(9)), "sends without an outcome in orders-?: it counted 1, its rows are 0"),
        ("sends", lambda rows: rows[:20] + rows[24:], "acknowledgements: it counted 0 s, its rows say 2.08333 s"),
        ("reads", changed(7, offset=1007), "deliveries in orders-0: 60 both times, but not the same ones"),
        ("reads", lambda rows: [*rows[:7], rows[8], *rows[8:]], "60 both times, but not the same ones"),
        ("reads", lambda rows: rows[:-1], "deliveries in orders-0: it counted 60, its rows are 59"),
        ("reads", changed(7, partition=1), "deliveries in orders-1: it counted 0, its rows are 1"),
        ("polls", lambda rows: rows[1:], "polls: it counted 50, its rows are 49"),
    ],
)  # fmt: skip
def test_rows_that_are_not(asked: Asked, tmp_path: Path, table: str, change: Change, says: str) -> None:
    """A row that was removed, doubled, replaced or changed in one column: INCONCLUSIVE, with both figures."""
    rundir = history().write(tmp_path / "run")
    tamper(rundir, table, change)
    verdict = asked(rundir)
    assert verdict.found is Outcome.INCONCLUSIVE
    found = told(verdict)
    assert set(found) == {"tally_disagrees"}
    assert says in found["tally_disagrees"]
    assert ("writer/0" if table == "sends" else "reader/0") in found["tally_disagrees"]


def killed(rundir: Path, *, until: float = 10.0) -> RunDir:
    """A run whose processes were killed on purpose; their last tallies stand for what they were told until then."""
    made = history()
    made.rows["ends"].clear()
    made.counts_itself = False
    for end in made.record["probes"]:
        end["ended_by"] = "step"
    before = {
        table: [row for row in rows if (row[column] or 0) <= ns(until)]
        for table, column in (("sends", "completed"), ("reads", "at"), ("polls", "completed"))
        for rows in (made.rows[table],)
    }
    before["polls"] = before["polls"][:3]
    made.each("polls", lambda row: row | {"poll": row["poll"] - 100_000})
    processes = [("writer", 0), ("reader", 0)]
    made.rows["tallies"] = tallies(before, processes, ns(until), 4)
    made.rows["tallies"] += tallies({name: rows[:2] for name, rows in before.items()}, processes, ns(0), 3)
    return made.write(rundir)


def test_what_a_killed_process_wrote_after_its_tally_is_more_and_no_less(asked: Asked, tmp_path: Path) -> None:
    """Its last tally counts and not the one before, and rows of later moments are no matter of it."""
    assert told(asked(killed(tmp_path / "run"))) == {}


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        ("sends", lambda rows: rows[:7] + rows[8:], "its rows are 35"),
        ("sends", later, "ns in all, its rows say"),
        ("sends", lambda rows: [row for row in rows if row["completed"]], "it counted 1, its rows are 0"),
        ("reads", changed(7, offset=1007), "but not the same ones"),
        ("polls", lambda rows: rows[1:], "polls: it counted 3, its rows are 2"),
    ],
)
def test_a_killed_process_has_written_what_its_tally_stands_for(
    asked: Asked, tmp_path: Path, table: str, change: Change, says: str
) -> None:
    """A row from before its last tally that is missing or another one is seen."""
    rundir = killed(tmp_path / "run")
    tamper(rundir, table, change)
    found = told(asked(rundir))
    assert set(found) == {"tally_disagrees"}
    assert says in found["tally_disagrees"]


def test_a_process_that_ended_cleanly_leaves_a_tally(spark: SparkSession, tmp_path: Path) -> None:
    """One that left none, beside another that did, misses evidence; so do all of a chaosk that keeps none."""
    rundir = history().write(tmp_path / "run")
    tamper(rundir, "tallies", lambda rows: [row for row in rows if row["probe"] == "reader"])
    verdict = analyze(spark, rundir, {})
    assert verdict.found is Outcome.INCONCLUSIVE
    assert told(verdict)["tally_missing"].startswith("writer/0 ended cleanly and left no count")
    tamper(rundir, "tallies", lambda _rows: [])
    verdict = analyze(spark, rundir, {})
    assert verdict.found is Outcome.INCONCLUSIVE
    assert "a chaosk that keeps none recorded the run" in told(verdict)["tally_missing"]
    (rundir.events / "tallies.parquet").unlink()
    with pytest.raises(AnalysisError, match=r"tallies\.parquet: the event table is missing \(a run that another"):
        analyze(spark, rundir, {})


def test_many_differences_are_told_in_few_words(spark: SparkSession, tmp_path: Path) -> None:
    """Three figures of a process at most, and how many more there are."""
    rundir = history().write(tmp_path / "run")
    tamper(rundir, "sends", lambda rows: [row | {"completed": row["scheduled"] + 10**6 * row["seq"]} for row in rows])
    what = told(analyze(spark, rundir, {}))["tally_disagrees"]
    assert what.count("; ") == 3
    assert what.endswith(" more figures")


def test_both_sides_hash_and_sort_alike(spark: SparkSession) -> None:
    """Spark's ``xxhash64`` and its buckets of latency are those that probes compute in numpy."""
    draw = np.random.default_rng(5)
    first, second = (draw.integers(-(2**63), 2**63 - 1, 500) for _ in range(2))
    times = np.concatenate([draw.integers(0, 2 ** draw.integers(1, 47), 1) for _ in range(450)])
    times = np.concatenate([times, 2 ** np.arange(47), [-3, 0, 2**47 - 1]])
    rows = [tuple(map(int, row)) for row in zip(first, second, times, strict=True)]
    frame = spark.createDataFrame(rows, "a long, b long, t long").select(
        F.xxhash64("a").alias("one"), F.xxhash64("a", "b").alias("two"), bucket(F.col("t")).alias("bucket")
    )
    found = frame.toArrow()
    assert found["one"].to_pylist() == hashed(first).view(np.int64).tolist()
    assert found["two"].to_pylist() == hashed(first, second).view(np.int64).tolist()
    assert found["bucket"].to_pylist() == lower_bounds(numbers(times)).tolist()
