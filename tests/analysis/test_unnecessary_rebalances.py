"""D7: rebalances after which the group has the members that it had before."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import another
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks.rebalances import Rebalances
from chaosk.rundir.verdict import Outcome

pytestmark = [pytest.mark.spark, pytest.mark.long]


def figures(spark: SparkSession, folder: Path, history: History) -> dict[str, float | None]:
    """By metric the figure of the run."""
    verdict = analyze(spark, history.write(folder / "run"), {"rebalances": Rebalances})
    return {m.metric: m.value for m in verdict.measures if m.window == "run"}


def counts(spark: SparkSession, folder: Path, history: History) -> tuple[float | None, float | None]:
    """Rebalances in the run, and the unnecessary ones."""
    found = figures(spark, folder, history)
    return found["rebalances"], found["unnecessary_rebalances"]


def turned(at: float, *, how: str = "revoke", given: int = 1) -> History:
    """Two members with a partition each since -5.8 s; at ``at`` each loses its own, and they get ``given`` each."""
    history = History(records=50)
    history.rows["assignments"].clear()
    another(history)
    history.each("ends", lambda row: row | {"at": row["at"] + 40_000_000_000})
    for partition, probe in enumerate(("reader", "second")):
        who = {"probe": probe, "partition": partition}
        history.add("assignments", at=-5.8, **who)
        history.add("assignments", at=at, kind=how, rebalance=1, **who)
        for more in range(given):
            place = {"probe": probe, "partition": partition + 2 * more}
            history.add("assignments", at=at + 0.5, rebalance=1, assignment=int(more == 0), **place)
    return history


@pytest.mark.proves("rebalances", "fires")
def test_the_same_members_as_before_make_it_unnecessary(spark: SparkSession, tmp_path: Path) -> None:
    """Nobody started, ended or was killed, and each got a partition again."""
    assert counts(spark, tmp_path, turned(12.0)) == (1, 1)


@pytest.mark.proves("rebalances", "near miss")
@pytest.mark.parametrize("change", ["started", "ended", "killed", "lost", "more partitions"])
def test_a_change_is_a_reason(spark: SparkSession, tmp_path: Path, change: str) -> None:
    """A member came, went, was killed some time before, or had been expelled; or there was more to give."""
    history = turned(12.0, how="lost" if change == "lost" else "revoke", given=2 if change == "more partitions" else 1)
    if change == "started":
        another(history, "third", started=11.0)
    elif change == "ended":
        another(history, "third")
        history.change("ends", {"probe": "third"}, at=history.rows["assignments"][1]["at"])
    elif change == "killed":
        another(history, "third")
        history.drop("ends", probe="third")
        history.add("polls", probe="third", poll=0, invoked=1, completed=1.1)
    assert counts(spark, tmp_path, history) == (1, 0)


def windows(spark: SparkSession, folder: Path, history: History, metric: str) -> dict[str, tuple[float | None, bool]]:
    """By window a figure of the group, and whether it is at least so much."""
    verdict = analyze(spark, history.write(folder / "run"), {"rebalances": Rebalances})
    return {m.window: (m.value, m.censored) for m in verdict.measures if m.metric == metric}


def test_a_partition_has_moved_when_another_member_gets_it(spark: SparkSession, tmp_path: Path) -> None:
    """At 12 s each of two gets its own back; at 15 s the second one gets both: one move, after the heal."""
    history = turned(12.0)
    assert windows(spark, tmp_path / "own", history, "moved_partitions")["run"] == (0, False)
    history.add("assignments", at=14.5, kind="revoke", rebalance=2)
    history.add("assignments", at=15.0, rebalance=2, probe="second", partition=0)
    found = windows(spark, tmp_path / "other", history, "moved_partitions")
    assert found == {"run": (1, False), "baseline": (0, False), "kill": (0, False), "after_heal": (1, False)}


def test_that_nothing_moved_is_not_known_where_a_log_is_cut_short(spark: SparkSession, tmp_path: Path) -> None:
    """A member was killed and left no tally: it may have been given what it did not write down."""
    history = turned(12.0)
    history.drop("ends", probe="second")
    history.record["probes"][-1] |= {"ended_by": "step", "exit_status": -9}
    for metric, many in (("rebalances", 0), ("moved_partitions", 0)):
        assert windows(spark, tmp_path / metric, history, metric)["kill"] == (many, True)
    history.expect = {"rebalances": {"max": 0, "during": "kill"}}
    assert (
        analyze(spark, history.write(tmp_path / "judged"), {"rebalances": Rebalances}).verdict is Outcome.INCONCLUSIVE
    )


def test_a_group_without_members_has_no_rebalances(spark: SparkSession, tmp_path: Path) -> None:
    """Both started at 8 s: of the time before nobody can say that its generation stayed the same."""
    history = turned(12.0)
    history.each("incarnations", lambda row: row | ({"started": ns(8)} if row["group"] else {}))
    found = windows(spark, tmp_path, history, "rebalances")
    assert found == {"run": (1, False), "baseline": (None, False), "kill": (None, False), "after_heal": (1, False)}


def test_the_first_assignments_are_no_rebalance(spark: SparkSession, tmp_path: Path) -> None:
    """And so not an unnecessary one."""
    assert counts(spark, tmp_path, History(records=10)) == (0, 0)


def restarted(*, static: bool, killed: bool = False, another_had_it: bool = False) -> History:
    """The reader has a partition, ends or is killed at 12 s, and has it again at 13 s, in a new process."""
    history = History(records=50)
    if static:
        history.probes["reader"]["consume"]["config"] = {"group.instance.id": "reader-1"}
    another(history)
    history.worker("reader", 1, started=12.5, kind="consume", group="readers", isolation="read_committed")
    history.add("assignments", probe="second", partition=1, at=-5.8)
    if not killed:
        history.add("assignments", at=12.0, kind="revoke", rebalance=1)
    if another_had_it:
        history.add("assignments", probe="second", at=12.3, rebalance=1)
        history.add("assignments", probe="second", at=12.8, kind="revoke", rebalance=2)
    history.add("assignments", incarnation=1, at=13.0)
    return history


@pytest.mark.parametrize("killed", [False, True])
def test_the_restart_of_a_static_member_is_none(spark: SparkSession, tmp_path: Path, killed: bool) -> None:  # noqa: FBT001
    """Its partitions were nobody else's meanwhile; without a name of its own the same is counted."""
    assert counts(spark, tmp_path / "static", restarted(static=True, killed=killed)) == (0, 0)
    assert counts(spark, tmp_path / "plain", restarted(static=False, killed=killed))[0] == (1 if killed else 2)


def test_a_static_member_that_came_back_too_late_is_one(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: its session was over, and another member had the partition in between: there and back is two."""
    assert counts(spark, tmp_path, restarted(static=True, another_had_it=True)) == (2, 0)


def taken_over(*, fenced: bool, learns: float = 13.5) -> History:
    """Two probes have one name as static members: the second is given the first one's partition at 13 s."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"group.instance.id": "till"}
    another(history, started=12.0)
    history.probes["second"]["consume"]["config"] = {"group.instance.id": "till"}
    history.add("assignments", probe="second", at=13.0)
    history.add("assignments", at=learns, kind="lost", rebalance=1)
    if fenced:
        told = {"error": "FENCED_INSTANCE_ID", "message": "Fatal error", "fatal": True}
        history.add("errors", probe="reader", incarnation=0, at=learns, **told)
    return history


@pytest.mark.parametrize("learns", [12.5, 13.5])
def test_a_static_member_that_was_fenced_is_none(spark: SparkSession, tmp_path: Path, learns: float) -> None:
    """Whether it learns of it before or after the other one works; had the group expelled it, it would be counted."""
    found = figures(spark, tmp_path, taken_over(fenced=True, learns=learns))
    assert (found["rebalances"], found["moved_partitions"]) == (0, 0)
    assert counts(spark, tmp_path / "expelled", taken_over(fenced=False, learns=learns))[0] == 1


def cooperative() -> History:
    """One of a member's three partitions goes to another one at 3 s, which has it at 4 s; back at 8 s, and at 12 s."""
    history = History(records=50)
    another(history)
    for partition in (1, 2):
        history.add("assignments", partition=partition, at=-5.9)
    for at, kind, probe in (
        (3.0, "revoke", "reader"), (4.0, "assign", "second"), (8.0, "revoke", "second"), (8.4, "assign", "reader"),
        (12.0, "revoke", "reader"), (12.5, "assign", "second"),
    ):  # fmt: skip
        history.add("assignments", probe=probe, partition=2, at=at, kind=kind, rebalance=round(at))
    return history


@pytest.mark.proves("rebalances", "fires")
def test_who_only_gives_up_has_no_part_in_how_long_it_takes(spark: SparkSession, tmp_path: Path) -> None:
    """The cooperative protocol: it keeps the others, gets nothing for what it gave up, and does not wait for any."""
    found = figures(spark, tmp_path, cooperative())
    assert (found["rebalances"], found["moved_partitions"]) == (3, 3)
    assert found["rebalance_time"] == pytest.approx(1.0)


@pytest.mark.proves("rebalances", "near miss")
def test_what_another_member_has_by_then_is_not_on_its_way(spark: SparkSession, tmp_path: Path) -> None:
    """A member learns at 9 s that it lost what another one was given at 5 s: nobody waits for that until 15 s."""
    history = History(records=50)
    another(history)
    for at, kind, probe in ((5.0, "assign", "second"), (9.0, "lost", "reader"), (14.8, "revoke", "second")):
        history.add("assignments", probe=probe, at=at, kind=kind, rebalance=round(at))
    history.add("assignments", at=15.0, rebalance=15)
    found = figures(spark, tmp_path, history)
    assert found["rebalances"] == 3
    assert found["rebalance_time"] == pytest.approx(0.2)
