"""D6: how long an election takes, from the last sign that the old leader served to the first that another one did."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row, ns
from analysis.leading import PERIOD, Led, View, watched, written
from analysis.ways import measure

if TYPE_CHECKING:
    from analysis.conftest import Judge

    from chaosk.rundir.verdict import Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]
KILLED, BACK = 1.1, 9.6
SAMPLING = 2 * PERIOD + 0.03


def rows(verdict: Verdict) -> list[tuple[object, ...]]:
    """Old and new leader and the new epoch of every change, by time."""
    found = [each for each in verdict.findings if each.check == "election"]
    return [(row["from_leader"], row["to_leader"], row["epoch"]) for each in found for row in each.evidence]


def kill(names: str, phase: float = 0.0) -> History:
    """Broker 1 leads at epoch 3 and is killed at 1.1 s; broker 2 serves at epoch 4 from 9.6 s on.

    Others name it ``at once`` though it does not serve yet, name ``none`` for a while, or go on naming the ``dead`` one
    until half a second after broker 2 serves.
    """
    named = {"at once": KILLED + 0.1, "none": BACK, "dead": BACK + 0.5}[names]

    def says(broker: int, at: float) -> View | None:
        if broker == 1 and at >= KILLED:
            return None
        if at >= named or (broker == 2 and at >= BACK):
            return 2, 4
        return (-1, 3) if names == "none" and at >= KILLED + 0.3 else (1, 3)

    history = watched(History(records=250), says, phase, serves=lambda _broker, at: at < KILLED or at >= BACK)
    return written(history, [Led(-6, 3), Led(KILLED, 4)], [(KILLED, BACK)])


@pytest.mark.proves("election", "fires")
@pytest.mark.parametrize(("names", "phase"), [("at once", 0.0), ("none", 0.07), ("dead", 0.12)])
def test_runs_of_the_same_kill_say_the_same(judge: Judge, names: str, phase: float) -> None:
    """Whatever brokers name meanwhile, and whenever they are asked: 8.5 s without anybody who serves."""
    verdict = judge(kill(names, phase), "election")
    assert rows(verdict) == [(1, 2, 4)]
    assert measure(verdict, "election", "orders") == pytest.approx(BACK - KILLED, abs=SAMPLING)
    assert measure(verdict, "election", "orders", "kill") == measure(verdict, "election", "orders")
    assert measure(verdict, "election", "orders", "baseline") is None


def test_what_the_new_leader_tells_of_the_old_ones_records_is_no_sign_of_that(judge: Judge) -> None:
    """A record that the old leader has, sent again, is acknowledged by the new one a moment before its own records."""
    history = kill("none")
    last = max((row for row in history.rows["sends"] if row["completed"] < ns(KILLED)), key=lambda row: row["seq"])
    last["completed"] = ns(BACK + 0.005)
    verdict = judge(history, "election")
    assert measure(verdict, "election", "orders") == pytest.approx(BACK - KILLED, abs=SAMPLING)


def test_records_tell_more_than_samples(judge: Judge) -> None:
    """The last sample of the old leader is a second older than the last record it wrote; it died in between."""
    history = kill("none")
    history.rows["offsets"] = [
        row for row in history.rows["offsets"] if not (row["leader"] and ns(0) < row["at"] < ns(BACK + 1))
    ]
    found = measure(judge(history, "election"), "election", "orders")
    assert found == pytest.approx(BACK - KILLED, abs=SAMPLING)


@pytest.mark.proves("election", "near miss")
def test_a_preferred_election_takes_no_time(judge: Judge) -> None:
    """The old leader serves until the new one does."""
    history = watched(History(records=250), lambda _broker, at: (1, 3) if at < 4 else (0, 4))
    verdict = judge(written(history, [Led(-6, 3), Led(4, 4)]), "election")
    assert rows(verdict) == [(1, 0, 4)]
    assert 0 <= (measure(verdict, "election", "orders") or 0) <= SAMPLING


@pytest.mark.proves("election", "near miss")
def test_two_leaders_at_once_are_no_long_election(judge: Judge) -> None:
    """Cut from ZooKeeper at 1 s: broker 1 leads in its own eyes until 12 s, broker 2 was elected at 5 s."""

    def says(broker: int, at: float) -> View:
        return (1, 3) if at < 5 or (broker == 1 and at < 12) else (2, 4)

    verdict = judge(written(watched(History(records=250), says), [Led(-6, 3), Led(5, 4)]), "election")
    assert rows(verdict) == [(1, 2, 4)]
    assert 0 <= (measure(verdict, "election", "orders") or 0) <= SAMPLING


@pytest.mark.proves("election", "near miss")
def test_a_leader_that_clients_cannot_reach_was_not_deposed(judge: Judge) -> None:
    """Cut from clients and nothing else: from 1.1 s to 9.6 s it answers nobody, and it is the leader all the time."""
    history = watched(History(records=250), lambda who, at: None if who == 1 and KILLED <= at < BACK else (1, 3))
    verdict = judge(written(history, [Led(-6, 3)], [(KILLED, BACK)]), "election")
    assert rows(verdict) == []
    assert measure(verdict, "election", "orders") is None


@pytest.mark.proves("election", "fires")
def test_a_frozen_leader_that_wakes_up_does_not_shorten_it(judge: Judge) -> None:
    """Stopped at 1.1 s, succeeded at 9.6 s; awake at 14 s, broker 1 leads for a moment in its own eyes."""

    def says(broker: int, at: float) -> View | None:
        if broker == 1:
            return (1, 3) if at < KILLED or 14 <= at < 14.4 else None if at < 14 else (2, 4)
        return (2, 4) if at >= BACK else (1, 3)

    history = written(watched(History(records=250), says), [Led(-6, 3), Led(KILLED, 4)], [(KILLED, BACK)])
    verdict = judge(history, "election")
    assert rows(verdict) == [(1, 2, 4)]
    assert measure(verdict, "election", "orders") == pytest.approx(BACK - KILLED, abs=SAMPLING)


@pytest.mark.proves("election", "fires")
def test_the_old_leader_elected_again_is_a_change(judge: Judge) -> None:
    """An ISR of one: nobody leads until broker 1 is back, at a new epoch. It answers before others hear of that."""

    def says(broker: int, at: float) -> View | None:
        if broker == 1:
            return None if KILLED <= at < BACK else (1, 3) if at < KILLED else (1, 5)
        return (1, 3) if at < KILLED + 1 else (-1, 4) if at < BACK + 0.4 else (1, 5)

    history = written(watched(History(records=250), says), [Led(-6, 3), Led(KILLED, 5)], [(KILLED, BACK)])
    verdict = judge(history, "election")
    assert rows(verdict) == [(1, 1, 5)]
    assert measure(verdict, "election", "orders") == pytest.approx(BACK - KILLED, abs=SAMPLING)


@pytest.mark.proves("election", "fires")
def test_a_leader_that_was_elected_and_is_dead_is_passed_over(judge: Judge) -> None:
    """Brokers 1 and 2 are killed at once; broker 2 is elected at 6 s all the same, broker 0 at 9.6 s."""

    def says(broker: int, at: float) -> View | None:
        if broker and at >= KILLED:
            return None
        return (1, 3) if at < 6 else (2, 4) if at < BACK else (0, 5)

    history = written(watched(History(records=250), says), [Led(-6, 3), Led(KILLED, 5)], [(KILLED, BACK)])
    verdict = judge(history, "election")
    assert rows(verdict) == [(1, 0, 5)]
    assert measure(verdict, "election", "orders") == pytest.approx(BACK - KILLED, abs=SAMPLING)


@pytest.mark.proves("election", "no evidence")
def test_an_election_that_nobody_won_is_censored(judge: Judge) -> None:
    """Killed at 1.1 s, and no leader any more until the run ends at 20 s: it took at least that long."""

    def says(broker: int, at: float) -> View | None:
        return (None if broker == 1 else (-1, 4)) if at >= KILLED else (1, 3)

    history = watched(History(records=250), says)
    for table, column in (("sends", "completed"), ("reads", "at")):
        history.rows[table] = [row for row in history.rows[table] if row[column] < ns(KILLED)]
    kept = {row["seq"] for row in history.rows["reads"]}
    history.rows["audit"] = [row for row in history.rows["audit"] if row["seq"] in kept]
    history.expect = {"election": {"max": "10s"}}
    verdict = judge(written(history, [Led(-6, 3)]), "election")
    (figure,) = [m for m in verdict.measures if m.metric == "election" and m.window == "run"]
    assert figure.value == pytest.approx(20 - KILLED, abs=SAMPLING)
    assert figure.censored
    assert [one.met for one in verdict.objectives] == [False]


# --- against the definition in plain Python ---------------------------------------------------------------------------


def drawn(seed: int) -> History:
    """Leaders that follow one another after gaps, are dead, deposed without knowing it, or heard of late."""
    draw = Random(seed)  # noqa: S311 - repeatable, not secret
    at, epoch, leader = -6.0, 3, 0
    turns: list[tuple[float, float, int, int]] = [(at, -6.0, leader, epoch)]
    while (gone := at + draw.uniform(2, 7)) < 17:
        epoch, gap = epoch + draw.randrange(1, 3), draw.choice([0.0, 0.4, 3.0])
        leader, at = draw.randrange(3), gone + gap
        turns.append((gone, at, leader, epoch))
    blind = [(draw.uniform(-2, 18), draw.uniform(0.5, 4), draw.randrange(3)) for _ in range(3)]
    late = {broker: draw.choice([0.0, 0.3, 2.5]) for broker in range(3)}

    def says(broker: int, now: float) -> View | None:
        if any(began <= now < began + length and broker == who for began, length, who in blind):
            return None
        known = [turn for turn in turns if turn[1] + (0 if broker == turn[2] else late[broker]) <= now]
        _, _, who, number = (known or turns[:1])[-1]
        return who, number

    def serves(broker: int, now: float) -> bool:
        return not any(gone <= now < began for gone, began, _, _ in turns if broker >= 0)

    history = watched(History(records=250), says, draw.uniform(0, PERIOD), serves)
    return written(
        history, [Led(began, number) for _, began, _, number in turns], [(gone, began) for gone, began, _, _ in turns]
    )


def signs(history: History) -> dict[int, dict[str, list[int]]]:
    """By epoch when its leader answered, and when its records were handed over, acknowledged and delivered."""
    found: dict[int, dict[str, list[int]]] = {}

    def of(epoch: int) -> dict[str, list[int]]:
        return found.setdefault(epoch, {"answered": [], "invoked": [], "shown": []})

    for row in history.rows["offsets"]:
        if row["leader"] and row["high_watermark"] is not None:
            mine = [r for r in history.rows["partitions"] if r["asked"] == row["asked"] and r["at"] <= row["at"]]
            view = max(mine, key=lambda each: int(each["at"]))
            if view["leader"] == row["asked"]:
                of(view["leader_epoch"])["answered"].append(row["at"])
    epochs = {row["seq"]: row["leader_epoch"] for row in history.rows["audit"]}
    for row in history.rows["sends"]:
        of(epochs[row["seq"]])["invoked"].append(row["invoked"])
        of(epochs[row["seq"]])["shown"].append(row["completed"])
    for row in history.rows["reads"]:
        of(row["leader_epoch"])["shown"].append(row["at"])
    return found


def expected(history: History) -> list[Row]:
    """The changes of leadership, by the definition."""
    shown = signs(history)
    leaders = {row["leader_epoch"]: row["leader"] for row in history.rows["partitions"] if row["leader"] >= 0}
    since = {
        epoch: min(each["answered"] + each["shown"]) for epoch, each in shown.items()
        if epoch in leaders and each["answered"] + each["shown"]
    }  # fmt: skip
    found, served = [], sorted(since)
    for old, new in pairwise(served):
        before = [at for at in shown[old]["answered"] + shown[old]["invoked"] if at < since[new]]
        named = [r["at"] for r in history.rows["partitions"] if r["leader_epoch"] == old and r["at"] < since[new]]
        began = max(before or named or [since[new]])
        found.append({
            "from_leader": leaders[old], "to_leader": leaders[new], "epoch": new,
            "seconds": pytest.approx((since[new] - began) / 1e9),
        })  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(4))
def test_elections_are_what_the_definition_says(judge: Judge, seed: int) -> None:
    """Every change and its length, on histories in which leaders come and go at random."""
    history = drawn(seed)
    verdict = judge(history, "election")
    found = [row for each in verdict.findings if each.check == "election" for row in each.evidence]
    columns = ("from_leader", "to_leader", "epoch", "seconds")
    assert [{name: row[name] for name in columns} for row in found] == expected(history)
    assert found
