"""What a run waits for: probes at work, consumers caught up, a whole cluster; and for how long at the most."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chaosk.core.errors import StepError
from chaosk.run import waiting
from chaosk.run.clock import Interrupted
from chaosk.run.drain import Ends
from chaosk.run.probe_supervisor import ProbeSupervisor
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.scenario import probes as kinds

PROBES = {
    "writer": kinds()["produce"].model_validate({"topic": "orders"}),
    "reader": kinds()["consume"].model_validate({"topic": "orders", "group": "readers"}),
}
NEVER = threading.Event()


class Team:
    """A crew whose probes get on by one record at each look."""

    def __init__(
        self,
        *,
        grow: tuple[str, ...] = ("writer", "reader"),
        dies: str = "",
        standby: tuple[str, ...] = (),
        owned: Iterator[int] | None = None,
        probes: Mapping[str, Probe] = PROBES,
    ) -> None:
        self.ok = {"writer": 0, "reader": 0}
        self.ended: list[tuple[str, ...]] = []
        self.started: list[str] = []
        self.grow, self.dies, self.standby, self.probes = grow, dies, standby, probes
        self.owned = owned or repeat(1)

    def start(self, probe: str) -> None:
        """Note it."""
        self.started.append(probe)

    def states(self) -> tuple[ProbeState, ...]:
        """How far each is."""
        kind, owned = {"writer": "produce", "reader": "consume"}, next(self.owned)
        shared: Any = {"running": True, "lag": 0, "owned": owned}
        return tuple(
            ProbeState(probe=name, kind=kind[name], ok=ok, reached=ok, standby=name in self.standby, **shared)
            for name, ok in self.ok.items()
        )

    def dead(self) -> tuple[str, ...]:
        """Who died."""
        return (self.dies,) if self.dies else ()

    def ends(self) -> tuple[Any, ...]:
        """What the dead said."""
        return (SimpleNamespace(probe=self.dies, last_words="no such topic"),) if self.dies else ()

    def end_all(self, probes: tuple[str, ...]) -> None:
        """Note it."""
        self.ended.append(probes)

    def look(self) -> None:
        """One record more."""
        for name in self.grow:
            self.ok[name] += 1


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing takes long here."""
    for name in ("WARM_WITHIN", "CATCH_UP_WITHIN", "WHOLE_WITHIN"):
        monkeypatch.setattr(waiting, name, 0.3)


def crew(team: Team) -> ProbeSupervisor:
    """The team as a crew."""
    return cast("ProbeSupervisor", team)


def test_warm_when_every_probe_has_made_progress() -> None:
    """All are started, in order, and none is left behind."""
    team = Team()
    waiting.warm_up(crew(team), PROBES, team.look, NEVER)
    assert team.started == ["writer", "reader"]


def test_a_standby_need_not_have_made_progress() -> None:
    """It is there to take over later; the others are waited for as ever."""
    team = Team(grow=("reader",), standby=("writer",))
    waiting.warm_up(crew(team), PROBES, team.look, NEVER)
    assert team.ok["writer"] == 0
    assert team.ok["reader"] > 0


def test_a_probe_that_a_step_is_to_start_is_left_alone() -> None:
    """The others are waited for as ever, and nobody at all is enough where all of them start later."""
    late = {**PROBES, "late": PROBES["reader"].model_copy(update={"started_by": "step"})}
    team = Team()
    waiting.warm_up(crew(team), late, team.look, NEVER)
    assert team.started == ["writer", "reader"]
    nobody = Team()
    nobody.ok.clear()
    waiting.warm_up(crew(nobody), {"late": late["late"]}, lambda: None, NEVER)
    assert nobody.started == []


@pytest.mark.parametrize(
    ("team", "told"),
    [
        (Team(grow=("writer",)), "reader: made no progress within 0.3 s, before any fault"),
        (Team(dies="reader"), "reader: died before the timeline began: no such topic"),
    ],
)
def test_a_probe_that_does_nothing_keeps_the_faults_out(team: Team, told: str) -> None:
    """What does not work before a fault shows nothing under it."""
    with pytest.raises(StepError, match=told):
        waiting.warm_up(crew(team), PROBES, team.look, NEVER)


def drained(team: Team, ends: Callable[[], Ends]) -> list[str]:
    """What the end of the probes said."""
    said = list[str]()
    waiting.drain(crew(team), team.probes, ends, team.look, NEVER, said.append)
    return said


def test_drained_when_readers_have_what_was_written() -> None:
    """Writers end first, readers when they have caught up."""
    team = Team(grow=("reader",))
    team.ok["writer"] = 2
    assert drained(team, lambda: {"orders": (2,)}) == []
    assert team.ended == [("writer",), ("writer", "reader")]
    assert team.ok["reader"] >= 2


def test_a_reader_that_does_not_catch_up_is_told_of_and_ended() -> None:
    """Its events count as far as they go; the verdict says what it lacks."""
    team = Team(grow=())
    team.ok["writer"] = 5
    assert drained(team, lambda: {"orders": (5,)}) == ["readers: not everything was read in time"]
    assert team.ended[-1] == ("writer", "reader")


def patient(milliseconds: int) -> dict[str, Probe]:
    """The probes, with time-outs of the reader that sum up to so much."""
    config = {"session.timeout.ms": 1, "max.poll.interval.ms": milliseconds - 1}
    reader = kinds()["consume"].model_validate({"topic": "orders", "group": "readers", "config": config})
    return {**PROBES, "reader": reader}


def test_a_partition_that_no_member_owns_is_waited_for_as_long_as_time_outs_explain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only then it is known that nobody will get it; one that gets it late has time to read on."""
    monkeypatch.setattr(waiting, "TOLD_AFTER", 0.0)
    began, team = time.monotonic(), Team(grow=(), owned=repeat(1), probes=patient(2_000))
    said = drained(team, lambda: {"orders": (5, 5)})
    assert 2 <= time.monotonic() - began < 10
    assert [line.partition(":")[0] for line in said] == ["readers", "readers"]
    assert "no member owns some partition; waiting for up to 2 s" in said[0]
    late = Team(grow=(), owned=chain(repeat(1, 8), repeat(2)), probes=patient(60_000))
    late.look = lambda: late.ok.update(reader=10 if next(late.owned) == 2 else 0)  # type: ignore[method-assign]
    began = time.monotonic()
    assert len(drained(late, lambda: {"orders": (5, 5)})) == 1
    assert time.monotonic() - began < 30


def test_a_cluster_that_does_not_know_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five were acknowledged and three are left: who has had three is done, once leaders say that these are all."""
    monkeypatch.setattr(waiting, "ASK_EVERY", 0.01)
    team = Team(grow=())
    team.ok |= {"writer": 5, "reader": 3}
    told = iter([{}, {}, {"orders": (3,)}])
    assert drained(team, lambda: next(told)) == []
    assert next(told, None) is None
    assert team.ended[-1] == ("writer", "reader")


def test_settled_when_every_last_stable_offset_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was held moved on, one came to the end; another transaction that began meanwhile is no matter."""
    monkeypatch.setattr(waiting, "ASK_EVERY", 0.0)
    answers = [{("a", 0): 5, ("a", 1): 7}, {("a", 0): 5}, {("a", 0): 9, ("a", 1): 12}]
    asked: list[int] = []

    def held() -> dict[tuple[str, int], int]:
        asked.append(1)
        return answers[len(asked) - 1]

    assert waiting.settle_longer(held, 60, lambda: None, NEVER)
    assert len(asked) == 3


@pytest.mark.parametrize("silent", [None, {("a", 0): None}])
def test_an_offset_that_nobody_tells_has_not_moved(
    monkeypatch: pytest.MonkeyPatch, silent: dict[tuple[str, int], int | None] | None
) -> None:
    """Neither the cluster, nor the partition's leader, answers at first, or in between: the wait goes on."""
    monkeypatch.setattr(waiting, "ASK_EVERY", 0.0)
    stands: dict[tuple[str, int], int | None] = {("a", 0): 5}
    answers = iter([silent, stands, silent, stands, {}])
    assert waiting.settle_longer(lambda: next(answers), 60, lambda: None, NEVER)
    assert list(answers) == []


def test_one_that_does_not_move_is_waited_for_as_long_as_it_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the run goes on, and says so."""
    monkeypatch.setattr(waiting, "ASK_EVERY", 0.0)
    began = time.monotonic()
    assert not waiting.settle_longer(lambda: {("a", 0): 5}, 0.3, lambda: None, NEVER)
    assert time.monotonic() - began >= 0.3


def test_whole_after_a_while() -> None:
    """What undoing does not bring back at once is waited for."""
    answers = [("no controller",), ("no controller",), ()]
    asked: list[int] = []

    def unhealthy() -> tuple[str, ...]:
        asked.append(1)
        return answers[min(len(asked), 3) - 1]

    assert waiting.become_whole(unhealthy, lambda: None, NEVER) == ()
    assert len(asked) == 3


def test_a_cluster_that_stays_ill_is_told_of() -> None:
    """That is not healed, whatever the undo of each fault said."""
    found = waiting.become_whole(lambda: ("orders-0 has no leader",), lambda: None, NEVER)
    assert found == ("the cluster is not as it was: orders-0 has no leader",)


@pytest.mark.parametrize(
    "wait",
    [
        lambda team, stop: waiting.warm_up(crew(team), PROBES, team.look, stop),
        lambda team, stop: waiting.drain(crew(team), PROBES, dict, team.look, stop, print),
        lambda team, stop: waiting.become_whole(lambda: ("ill",), team.look, stop),
    ],
)
def test_a_run_that_is_told_to_stop_waits_no_longer(wait: Callable[[Team, threading.Event], object]) -> None:
    """Ctrl-C is heard in every wait."""
    team, stop = Team(grow=()), threading.Event()
    team.ok["writer"] = 5
    stop.set()
    with pytest.raises(Interrupted):
        wait(team, stop)


@pytest.mark.parametrize(("how", "waits"), [("always", False), ("fenced", True), ({"after": "twice"}, True)])
def test_who_must_always_fail_need_not_get_on(how: object, *, waits: bool) -> None:
    """Nobody waits for it before the timeline; one that is to fail later has to get on first, as all others."""
    barred = kinds()["consume"].model_validate({"topic": "orders", "group": "readers", "must_fail": how})
    team, probes = Team(grow=("writer",)), {**PROBES, "reader": barred}
    if waits:
        with pytest.raises(StepError, match="reader: made no progress"):
            waiting.warm_up(crew(team), probes, team.look, NEVER)
    else:
        waiting.warm_up(crew(team), probes, team.look, NEVER)
    assert team.started == ["writer", "reader"]
