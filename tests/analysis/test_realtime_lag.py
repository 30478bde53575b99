"""D4: how long what lies ahead of a consumer had been there when it polled."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import another, passed_on, reads_of
from analysis.history import History
from analysis.transactional import piped
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.realtime_lag import RealtimeLag
from chaosk.analysis.events import Events
from chaosk.analysis.lags import of_few, of_many

pytestmark = [pytest.mark.spark, pytest.mark.long]
Figures = dict[tuple[str, str, str], float | None]


def figures(spark: SparkSession, folder: Path, history: History) -> Figures:
    """By metric, probe and window the figures, which a glance and Spark have to agree about."""
    events = Events(spark, read_case(history.write(folder / "run")))
    few, many = of_few(events.rows), of_many(events)
    assert (few.buckets, few.longest) == (many.buckets, many.longest)
    return {(m.metric, m.subject, m.window): m.value for m in RealtimeLag().measures(events, CheckRows())}


def late() -> History:
    """Ten records a second; those of 2 s to 5 s are delivered at 6 s only. Polls begin every half second."""
    history = History(records=250)
    for offset in range(70, 100):  # due at 2.0 s to 4.9 s
        row = history.drop("reads", offset=offset)[0]
        history.rows["reads"].append(row | {"at": row["at"] + round((6.0 - (2.0 + (offset - 70) / 10)) * 1e9)})
    for offset in range(100, 110):  # due at 5.0 s to 5.9 s
        row = history.drop("reads", offset=offset)[0]
        history.rows["reads"].append(row | {"at": row["at"] + round((6.0 - (5.0 + (offset - 100) / 10)) * 1e9)})
    return history


@pytest.mark.proves("realtime_lag", "fires")
def test_it_counts_from_when_the_next_record_was_there(spark: SparkSession, tmp_path: Path) -> None:
    """Offset 70 was acknowledged at 2.005 s; the poll at 6.0 s begins 3.995 s later, and it comes at 6.01 s."""
    found = figures(spark, tmp_path, late())
    assert found["realtime_lag_max", "reader", "run"] == pytest.approx(3.995)
    assert found["realtime_lag_max", "reader", "kill"] == pytest.approx(3.495)  # until 6 s
    assert found["realtime_lag_p99", "reader", "run"] == pytest.approx(3.995, rel=0.001)
    assert found["realtime_lag_max", "reader", "baseline"] == 0.0


def test_what_nobody_proved_is_no_lag(spark: SparkSession, tmp_path: Path) -> None:
    """A send of unknown fate that nobody was given shows nothing; what is aborted or a hole does not lag."""
    history = History(records=10)
    history.send(10, 1.0, outcome="info", offset=None)
    history.send(11, 1.0, outcome="fail", offset=None)
    assert figures(spark, tmp_path, history)["realtime_lag_max", "reader", "run"] == pytest.approx(0.0)


def test_a_pipeline_reads_as_well(spark: SparkSession, tmp_path: Path) -> None:
    """A probe that reads and writes has lags of its own, and keeps nobody else's from being measured."""
    found = figures(spark, tmp_path, piped())
    assert found["realtime_lag_max", "reader", "run"] is not None


def test_a_delivery_to_anybody_shows_that_it_is_there(spark: SparkSession, tmp_path: Path) -> None:
    """The send's answer was lost, but another group was given the record at 2 s: the reader lags from then on."""
    history = History(records=50)
    for offset in range(14, 50):
        history.drop("reads", offset=offset)
        history.change("sends", {"seq": offset}, outcome="info", offset=None)
    another(history, "other", group="others")
    history.each("incarnations", lambda row: row | ({"group": "others"} if row["probe"] == "other" else {}))
    history.read(14, 2.0, probe="other", group="others")
    found = figures(spark, tmp_path, history)
    assert found["realtime_lag_max", "reader", "run"] == pytest.approx(17.5)  # the last poll of the run is at 19.5 s


def test_a_member_lags_only_in_what_it_holds(spark: SparkSession, tmp_path: Path) -> None:
    """The first member has no lag after it gave the partition up, the second one from its committed offset on."""
    history = History(records=50)
    another(history)
    for number in range(60):
        history.add("polls", probe="second", poll=number, invoked=number / 4, completed=number / 4 + 0.1)
    passed_on(history, 6.05, 23, probe="second", incarnation=0)
    reads_of(history, 23, probe="second")
    for offset in range(23, 30):  # due at 6.5 s to 9.5 s
        history.drop("reads", offset=offset)
    found = figures(spark, tmp_path, history)
    assert found["realtime_lag_max", "reader", "run"] == pytest.approx(0.0)
    assert found["realtime_lag_max", "second", "run"] == pytest.approx(3.495)  # from 6.505 s until the poll at 10 s


def test_a_position_that_nobody_knows_has_no_lag(spark: SparkSession, tmp_path: Path) -> None:
    """A probe that begins at the end, found no committed offset and was given nothing: no figure."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
    history.rows["reads"].clear()
    assert figures(spark, tmp_path, history)["realtime_lag_max", "reader", "run"] is None


@pytest.mark.parametrize("how", ["earliest", "reset to the end", "no group"])
def test_a_reader_lags_before_it_was_given_anything(spark: SparkSession, tmp_path: Path, how: str) -> None:
    """The position is known from the start: the log's, or the end that was asked for, which is offset 10 here."""
    history = History(records=50)
    history.rows["reads"].clear()
    expected = 24.495  # the first record was there at -4.995 s, and the last poll is at 19.5 s
    if how == "reset to the end":
        history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
        history.add("seeks", offset=10, at=-5.8, kind="reset")
        expected = 19.495  # record 10 was there at 0.005 s
    if how == "no group":
        history.rows["fetched"].clear()
        history.each("assignments", lambda row: row | {"group": None})
    assert figures(spark, tmp_path, history)["realtime_lag_max", "reader", "run"] == pytest.approx(expected)


def test_a_process_without_a_row_of_its_start_has_no_lag(tmp_path: Path) -> None:
    """Nobody knows which reader it is, and nothing stumbles over it."""
    history = late()
    history.rows["incarnations"].clear()
    found = of_few(Events(unasked, read_case(history.write(tmp_path / "run"))).rows)
    assert not found.counts


def unasked() -> SparkSession:
    """Spark is not needed here."""
    raise AssertionError
