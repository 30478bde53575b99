"""The steps on probes: ended, killed, started."""

from __future__ import annotations

import pytest

from chaosk.cluster.live import ProbeState
from chaosk.conditions.probe_ended import ProbeEnded
from chaosk.conditions.probe_runs import ProbeRuns
from chaosk.expression import parse_condition, parse_target
from chaosk.inventory import Inventory
from chaosk.steps._contract import Signal

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


def test_a_start_ends_the_fault(inventory: Inventory) -> None:
    """What was ended is started, and nothing is left to undo."""
    start, here = step("start_probe: {probe: reader}"), site(inventory)
    assert told(start.before(here)) == ["probe_ended(reader)"]
    assert list(start.inject(here)) == [Signal(probe="reader", action="start")]
    assert told(start.verify(here)) == ["probe_runs(reader)"]
    assert list(start.undo(here)) == []
    assert start.ends == ("stop_probe", "kill_probe")


@pytest.mark.parametrize("kind", ["stop_probe", "kill_probe", "start_probe"])
def test_the_target_is_the_probe(kind: str) -> None:
    """So that a start is matched with the fault that it ends."""
    (target,) = step(f"{kind}: {{probe: reader-2}}").targets()
    assert parse_target(target) == parse_target("probe reader-2")


class Probes:
    """What probes said last."""

    def __init__(self, *, running: bool) -> None:
        """All of them the same."""
        self.running = running

    def probe(self, name: str) -> ProbeState:
        """Its state."""
        return ProbeState(probe=name, kind="consume", running=self.running, exit_status=None if self.running else -9)


@pytest.mark.parametrize("running", [True, False])
def test_the_conditions_on_probes(inventory: Inventory, running: bool) -> None:  # noqa: FBT001
    """One is the opposite of the other, and both say what was seen."""
    runs, ended = parse_condition("probe_runs(reader)"), parse_condition("probe_ended(reader)")
    assert isinstance(runs, ProbeRuns)
    assert isinstance(ended, ProbeEnded)
    answers = [condition.ask(Probes(running=running), inventory) for condition in (runs, ended)]  # type: ignore[arg-type]
    assert [answer.holds for answer in answers] == [running, not running]
    assert answers[0].seen == answers[1].seen == ("probe reader runs" if running else "probe reader has ended with -9")
