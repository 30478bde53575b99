"""The timeline's hands: asking conditions."""

from __future__ import annotations

from typing import Any, cast

from fake_live import FakeLive, inventory

from chaosk.core.errors import StepError
from chaosk.run.actor import FaultActor
from chaosk.run.executor import Executor
from chaosk.spec.contracts.live import ProbeState


def unused(*_: object) -> Any:
    """Nothing here acts."""
    raise AssertionError


def actor(live: FakeLive) -> FaultActor:
    """An actor with a cluster to ask, and nothing else."""

    class Bare:
        """What a plan is asked for here."""

        def __init__(self) -> None:
            self.inventory = inventory()

    hands = Executor(inventory(), cast("Any", None), live, unused, unused)
    nobody = cast("Any", None)
    return FaultActor(cast("Any", Bare()), hands, nobody, nobody, nobody, unused)


def test_a_cluster_that_does_not_answer_does_not_confirm() -> None:
    """It is asked again, and may answer later."""
    live = FakeLive(silent=True)
    ask = actor(live).asks("isr_full(orders)")
    assert not ask().holds
    live.silent = False
    assert ask().holds


class LateProbe(FakeLive):
    """A probe of which nothing is known at first."""

    def __init__(self) -> None:
        super().__init__()
        self.ok: int | None = None

    def probe(self, name: str) -> ProbeState:
        """What it said last."""
        if self.ok is None:
            raise StepError(f"{name}: has said nothing yet")
        return ProbeState(probe=name, kind="produce", running=True, ok=self.ok)


def test_it_counts_from_the_first_answer() -> None:
    """A count cannot begin before there is one; two that wait count apart."""
    live = LateProbe()
    acting = actor(live)
    first = acting.asks("progress(writer, 10)")
    assert first().seen == "writer: has said nothing yet"
    live.ok = 100
    assert not first().holds
    live.ok = 105
    second = acting.asks("progress(writer, 10)")
    assert second().seen == "writer: 0 of 10 more"
    live.ok = 110
    assert (first().holds, second().holds) == (True, False)
