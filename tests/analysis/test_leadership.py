"""D6: who led partitions, how often that changed, for how long nobody did, and when all was as it is preferred."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from analysis.conftest import Judge
from analysis.history import History, Row, ns
from analysis.ways import guards
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.leadership import Leadership
from chaosk.analysis.events import Events
from chaosk.analysis.glances.metadata_spans import said
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.metadata_spans import HOLD, MetadataSpan

pytestmark = pytest.mark.spark
Figures = dict[tuple[str, str, str], tuple[float | None, bool]]


def led(row: Row, leader: int, epoch: int, isr: tuple[int, ...] = (0, 1, 2)) -> Row:
    """A sample that names another leader."""
    return row | {"leader": leader, "leader_epoch": epoch, "isr": list(isr)}


def history(change: Callable[[Row], Row] = lambda row: row) -> History:
    """A run whose partition is led by its preferred leader 0, but for what ``change`` makes of the samples."""
    found = History(records=5)
    found.each("partitions", lambda row: change(led(row, 0, 3)))
    return found


def killed(back: float | None = None) -> History:
    """Broker 0 is killed: from 2.1 s on nobody leads, from 3.1 s on broker 1, and from ``back`` on 0 again."""

    def change(row: Row) -> Row:
        if back is not None and row["at"] >= ns(back):
            return led(row, 0, 6)
        if row["at"] >= ns(3.1):
            return led(row, 1, 5, (1, 2))
        return led(row, -1, 4, (1, 2)) if row["at"] >= ns(2.1) else row

    return history(change)


def figures(spark: SparkSession, folder: Path, told: History) -> Figures:
    """By metric, subject and window the figure, and whether it is censored."""
    events = Events(spark, read_case(told.write(folder / "run")))
    measures = Leadership().measures(events, CheckRows())
    return {(one.metric, one.subject, one.window): (one.value, one.censored) for one in measures}


def of(found: Figures, metric: str, subject: str = "orders") -> dict[str, float | None]:
    """One metric by window."""
    return {window: value for (name, who, window), (value, _) in found.items() if (name, who) == (metric, subject)}


def test_nothing_changed(spark: SparkSession, tmp_path: Path) -> None:
    """Every figure is 0, and leadership had returned when the fault was undone: it had never gone."""
    found = figures(spark, tmp_path, history())
    for metric in ("leader_changes", "displaced_leaders", "leaderless_time"):
        assert of(found, metric) == dict.fromkeys(("run", "baseline", "kill", "after_heal"), 0)
    assert found["leadership_return", "kill", "run"] == (0, False)


@pytest.mark.proves("leadership", "fires")
def test_leadership_moves_and_stays_away(spark: SparkSession, tmp_path: Path) -> None:
    """C3: one change, in the fault's window; displaced from then on; a second without a leader; it never returns."""
    found = figures(spark, tmp_path, killed())
    assert of(found, "leader_changes") == {"run": 1, "baseline": 0, "kill": 1, "after_heal": 0}
    assert of(found, "displaced_leaders") == {"run": 1, "baseline": 0, "kill": 1, "after_heal": 1}
    assert of(found, "leaderless_time") == pytest.approx({"run": 1, "baseline": 0, "kill": 1, "after_heal": 0})
    assert found["leadership_return", "kill", "run"] == (14, True)


@pytest.mark.proves("leadership", "fires")
def test_leadership_comes_home(spark: SparkSession, tmp_path: Path) -> None:
    """C5: undone at 6 s, home at 9.5 s, as the sample at 9.6 s first shows."""
    found = figures(spark, tmp_path, killed(back=9.5))
    assert of(found, "leader_changes") == {"run": 2, "baseline": 0, "kill": 1, "after_heal": 1}
    assert of(found, "displaced_leaders") == {"run": 0, "baseline": 0, "kill": 1, "after_heal": 0}
    assert found["leadership_return", "kill", "run"] == (3.6, False)


@pytest.mark.proves("leadership", "near miss")
def test_the_same_leader_again_is_no_change(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: two new epochs, in the first of which nobody led; it was leaderless, and is not displaced."""
    told = history(lambda row: led(row, -1 if row["at"] < ns(4) else 0, 4) if row["at"] > ns(2) else row)
    found = figures(spark, tmp_path, told)
    assert of(found, "leader_changes")["run"] == of(found, "displaced_leaders")["run"] == 0
    assert of(found, "leaderless_time")["kill"] == pytest.approx(2, abs=0.21)


def test_a_broker_that_tells_what_it_knew_counts_no_more(spark: SparkSession, tmp_path: Path) -> None:
    """Broker 2 is cut off and goes on naming the old leader of an epoch that is over: no change back, no doubt."""
    told = killed()
    for tenth in range(-60, 220, 2):
        told.add("partitions", at=tenth / 10 + 0.05, asked=2, leader=0, leader_epoch=3, replicas=[0, 1, 2], isr=[0])
    found = figures(spark, tmp_path, told)
    assert of(found, "leader_changes") == {"run": 1, "baseline": 0, "kill": 1, "after_heal": 0}
    assert of(found, "displaced_leaders")["after_heal"] == 1
    assert of(found, "leaderless_time")["kill"] == pytest.approx(1)


def test_who_has_not_heard_of_the_leader_does_not_make_it_leaderless(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: broker 2 has just been started and names none at the epoch at which broker 0 names one."""
    told = history()
    for tenth in range(60, 80, 2):
        told.add("partitions", at=tenth / 10, asked=2, leader=-1, leader_epoch=3, replicas=[0, 1, 2], isr=[0, 1, 2])
    assert of(figures(spark, tmp_path, told), "leaderless_time")["run"] == 0


def test_leaderless_until_the_end_is_censored(spark: SparkSession, tmp_path: Path) -> None:
    """From 12 s on nobody leads, in the windows that it overlaps; displaced it is, too."""
    found = figures(spark, tmp_path, history(lambda row: led(row, -1, 4) if row["at"] >= ns(12) else row))
    assert [found["leaderless_time", "orders", window] for window in ("run", "kill")] == [(8, True), (0, False)]
    assert of(found, "displaced_leaders") == {"run": 1, "baseline": 0, "kill": 0, "after_heal": 1}


def test_home_for_a_moment_is_no_return(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: home at 7 s for two seconds, away again, and home from 12 s on."""

    def change(row: Row) -> Row:
        away = ns(2) < row["at"] < ns(7) or ns(9) <= row["at"] < ns(12)
        return led(row, 1 if away else 0, 3 + sum(row["at"] >= ns(at) for at in (2.1, 7, 9, 12)))

    found = figures(spark, tmp_path, history(change))
    assert of(found, "leader_changes")["run"] == 4
    assert found["leadership_return", "kill", "run"] == (6, False)


def test_every_partition_has_to_be_home(spark: SparkSession, tmp_path: Path) -> None:
    """One of two is led by its preferred leader all the time; the other one comes home at 9 s."""
    told = history()
    told.topic["partitions"] = 2
    for tenth in range(-60, 220, 2):
        leader, epoch = (2, 1) if tenth < 20 else (0, 2) if tenth < 90 else (2, 3)
        told.add("partitions", at=tenth / 10, asked=0, partition=1, leader=leader, leader_epoch=epoch,
                 replicas=[2, 0, 1], isr=[0, 1, 2])  # fmt: skip
    found = figures(spark, tmp_path, told)
    assert of(found, "displaced_leaders") == {"run": 0, "baseline": 0, "kill": 1, "after_heal": 0}
    assert found["leadership_return", "kill", "run"] == (3, False)


@pytest.mark.proves("leadership", "no evidence")
def test_what_nobody_watched_has_no_figure(spark: SparkSession, tmp_path: Path) -> None:
    """No broker answered from 1 s to 7 s: what happened then nobody knows. Before and afterwards they do."""
    told = killed()
    told.rows["partitions"] = [row for row in told.rows["partitions"] if not ns(1) < row["at"] < ns(7)]
    found = figures(spark, tmp_path, told)
    for metric in ("leader_changes", "displaced_leaders", "leaderless_time"):
        figure = of(found, metric)
        assert (figure["run"], figure["kill"], figure["after_heal"]) == (None, None, None)
        assert figure["baseline"] == 0
    assert found["leadership_return", "kill", "run"] == (None, False)


def test_a_short_silence_leaves_the_figures(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: a leader that comes after four seconds without an answer is a change; of which window nobody knows."""
    told = killed()
    told.rows["partitions"] = [row for row in told.rows["partitions"] if not ns(2) < row["at"] < ns(6)]
    found = figures(spark, tmp_path, told)
    assert of(found, "leader_changes") == {"run": 1, "baseline": 0, "kill": 0, "after_heal": 0}
    assert of(found, "leaderless_time")["run"] == 0, "nobody was seen to say so"


@pytest.mark.parametrize(("began", "expected"), [(3.0, 1), (3.05, 0), (3.2, 0)])
def test_what_changed_before_a_wait_is_not_put_down_to_it(
    spark: SparkSession, tmp_path: Path, began: float, expected: int
) -> None:
    """Broker 1 is named from 3.2 s on, and at 3 s nobody was: a wait that began in between has seen no change."""
    told = killed()
    told.add("faults", fault="calm", step="wait", targets="", invoked=began, applied=9, took=True, undone=True)
    found = figures(spark, tmp_path, told)
    assert of(found, "leader_changes") == {"run": 1, "baseline": 0, "kill": 1, "calm": expected, "after_heal": 0}


@pytest.mark.parametrize(("last", "expected"), [(3.04, 0), (2.1, 1)])
def test_who_hears_of_it_late_does_not_date_it(spark: SparkSession, tmp_path: Path, last: float, expected: int) -> None:
    """Broker 2 still names the old leader at 3.1 s, when a wait has begun; broker 3 is the first to name the new one.

    That one had told otherwise before the wait; or it was silent for a second, and nobody knows but by the others.
    """
    told = killed()
    told.add("partitions", at=3.1, asked=2, leader=0, leader_epoch=3, replicas=[0, 1, 2], isr=[0])
    told.add("partitions", at=last, asked=3, leader=0, leader_epoch=3, replicas=[0, 1, 2], isr=[0])
    told.add("partitions", at=3.15, asked=3, leader=1, leader_epoch=5, replicas=[0, 1, 2], isr=[1])
    told.add("faults", fault="calm", step="wait", targets="", invoked=3.05, applied=9, took=True, undone=True)
    found = figures(spark, tmp_path, told)
    assert of(found, "leader_changes")["calm"] == expected


def test_objectives_are_set_on_them(judge: Judge) -> None:
    """They are met or missed as any other; one on what nobody watched cannot be judged."""
    told = killed()
    told.expect = {
        "leader_changes": [{"max": 0, "during": "after_heal"}, {"min": 1, "during": "kill"}],
        "displaced_leaders": {"orders": {"min": 1}},
        "leadership_return": "20s",
    }
    verdict = judge(told)
    assert [(one.metric, one.met) for one in verdict.objectives] == [
        ("displaced_leaders", True), ("leader_changes", True), ("leader_changes", True), ("leadership_return", None),
    ]  # fmt: skip
    assert guards(verdict) == {"objective_unmeasured"}


def chaotic(seed: int) -> History:
    """Three brokers and two partitions, with leaders, epochs and replicas at random, and silences."""
    draw, told = Random(seed), History(records=5)  # noqa: S311 - a drawn story, no secret
    told.rows["partitions"].clear()
    for tenth in range(-60, 220, 3):
        for asked in range(3):
            for partition in range(2):
                if draw.random() < 0.8 and not 50 < tenth < 50 + 10 * asked:
                    epoch = draw.choice([None, 1, 1, 1, 2])
                    told.add("partitions", at=tenth / 10, asked=asked, partition=partition, leader=draw.choice([-1, 0]),
                             leader_epoch=epoch, replicas=draw.choice([[0, 1], [1, 0, 2], []]), isr=[0])  # fmt: skip
    draw.shuffle(told.rows["partitions"])
    return told


def stretches(rows: list[Row]) -> Iterator[MetadataSpan]:
    """The same in plain Python, from the rows of ``partitions``."""
    answers: list[Any] = sorted(
        (row["topic"], row["partition"], row["asked"], row["at"], row["leader"], known(row["leader_epoch"]),
         known(*row["replicas"]), len(row["replicas"]), len(row["isr"]))
        for row in rows
    )  # fmt: skip
    for _, of_broker in groupby(answers, key=lambda answer: answer[:3]):
        mine: list[Any] = list(of_broker)
        first, later = mine[0], None
        for answer, later in zip_longest(mine, mine[1:]):
            follows = later is not None and later[3] - answer[3] <= HOLD
            if later is None or not follows or later[4:] != answer[4:]:
                words: list[Any] = [*first[:4], later[3] if follows else answer[3], *answer[4:], answer[3]]
                yield MetadataSpan(*words)
                first = later


def known(*numbers: int | None) -> int:
    """The first number, or what stands for none."""
    return -1 if not numbers or numbers[0] is None else numbers[0]


@pytest.mark.parametrize("make", [lambda: chaotic(1), lambda: chaotic(2), killed, lambda: History(records=1)])
def test_stretches_are_those_of_plain_python(tmp_path: Path, make: Callable[[], History]) -> None:
    """Every stretch of the same words, whatever the order of the rows."""
    told = make()
    case = read_case(told.write(tmp_path / "run"))
    rows = pq.read_table(case.events / "partitions.parquet").to_pylist()
    assert sorted(said(EventRows(case))) == sorted(stretches(rows))


def test_a_run_without_samples(spark: SparkSession, tmp_path: Path) -> None:
    """No row at all: no figure, and no crash."""
    told = History(records=1)
    told.rows["partitions"].clear()
    found = figures(spark, tmp_path, told)
    assert {value for value, _ in found.values()} == {None}
