"""The steps on probes: ended, killed, started, frozen."""

from __future__ import annotations

import pytest

from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.step import Signal
from chaosk.spec.expression import parse_condition, parse_target
from chaosk.spec.inventory import Inventory

from .conftest import site, step, told


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_probe_ends_and_is_started_again(inventory: Inventory, action: str) -> None:
    """It runs, gets its signal, has ended, and comes back as a new incarnation."""
    end, here = step(f"{action}_probe: {{probe: reader}}"), site(inventory)
    assert told(end.before(here)) == ["probe_runs(reader)"]
    assert list(end.inject(here)) == [Signal.model_validate({"probe": "reader", "action": action})]
    assert told(end.verify(here)) == ["probe_ended(reader)"]
    assert list(end.undo(here)) == [Signal(probe="reader", action="start")]
    assert told(end.healed(here)) == ["probe_runs(reader)"]
    assert end.lasting


def test_a_probe_is_frozen_and_wakes(inventory: Inventory) -> None:
    """It runs, is frozen, and runs on as the same process: nothing is started."""
    pause, here = step("pause_probe: {probe: reader}"), site(inventory)
    assert told(pause.before(here)) == ["probe_runs(reader)"]
    assert list(pause.inject(here)) == [Signal(probe="reader", action="pause")]
    assert told(pause.verify(here)) == ["probe_frozen(reader)"]
    assert list(pause.undo(here)) == [Signal(probe="reader", action="resume")]
    assert told(pause.healed(here)) == ["probe_runs(reader)"]
    assert pause.lasting
    assert list(pause.holds(here)) == list(step("kill_probe: {probe: reader}").holds(here)), "they contradict"


def test_a_start_ends_the_fault(inventory: Inventory) -> None:
    """What was ended is started, and nothing is left to undo."""
    start, here = step("start_probe: {probe: reader}"), site(inventory)
    assert told(start.before(here)) == ["not(any(probe_runs(reader), probe_frozen(reader)))"]
    assert list(start.inject(here)) == [Signal(probe="reader", action="start")]
    assert told(start.verify(here)) == ["probe_runs(reader)"]
    assert list(start.undo(here)) == []
    assert start.ends == ("stop_probe", "kill_probe")


@pytest.mark.parametrize("kind", ["stop_probe", "kill_probe", "start_probe", "pause_probe"])
def test_the_target_is_the_probe(kind: str) -> None:
    """So that a start is matched with the fault that it ends."""
    (target,) = step(f"{kind}: {{probe: reader-2}}").targets()
    assert parse_target(target) == parse_target("probe reader-2")


class Probes:
    """What probes said last."""

    def __init__(self, *, running: bool, frozen: bool = False, begun: bool = True) -> None:
        """All of them the same."""
        self.running, self.frozen, self.begun = running, frozen, begun

    def probe(self, name: str) -> ProbeState:
        """Its state."""
        status = None if self.running or not self.begun else -9
        state = ProbeState(probe=name, kind="consume", running=self.running, exit_status=status)
        return state.model_copy(update={"frozen": self.frozen, "begun": self.begun})


@pytest.mark.parametrize(
    ("running", "frozen", "holds", "seen"),
    [
        (True, False, "probe_runs", "probe reader runs"),
        (True, True, "probe_frozen", "probe reader is frozen"),
        (False, False, "probe_ended", "probe reader has ended with -9"),
    ],
)
def test_the_conditions_on_probes(
    inventory: Inventory,
    running: bool,  # noqa: FBT001 - what the probe is
    frozen: bool,  # noqa: FBT001
    holds: str,
    seen: str,
) -> None:
    """Exactly one of them holds, and all say what was seen."""
    for name in ("probe_runs", "probe_frozen", "probe_ended"):
        answer = parse_condition(f"{name}(reader)").ask(Probes(running=running, frozen=frozen), inventory)  # type: ignore[arg-type] # of all that is live, probes
        assert (answer.holds, answer.seen) == (name == holds, seen)


def test_what_has_not_been_started_has_not_ended(inventory: Inventory) -> None:
    """Nobody who waits for a probe's end goes on before it has begun."""
    for name in ("probe_runs", "probe_frozen", "probe_ended"):
        answer = parse_condition(f"{name}(reader)").ask(Probes(running=False, begun=False), inventory)  # type: ignore[arg-type] # of all that is live, probes
        assert (answer.holds, answer.seen) == (False, "probe reader has not been started")


@pytest.mark.parametrize(
    ("probes", "may"),
    [
        (Probes(running=False, begun=False), True),
        (Probes(running=False), True),
        (Probes(running=True), False),
        (Probes(running=True, frozen=True), False),
    ],
)
def test_only_what_does_not_run_can_be_started(inventory: Inventory, probes: Probes, may: bool) -> None:  # noqa: FBT001 - whether
    """For the first time or again; what is frozen is there all the same."""
    (query,) = told(step("start_probe: {probe: reader}").before(site(inventory)))
    assert parse_condition(str(query)).ask(probes, inventory).holds is may  # type: ignore[arg-type] # of all that is live, probes
