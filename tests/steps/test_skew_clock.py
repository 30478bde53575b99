"""skew_clock: its life, and whose machine every command of it names as the one that is never touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, PROBES, site, step, told

SKEW = "skew_clock: {target: it, offset: 1h%s}"


def test_its_life(inventory: Inventory) -> None:
    """It is the host's own, it is moved, it is off, it is put back; each host of several brokers once."""
    here = site(inventory, it=(*BROKERS[:1], *HOSTS[:1]))
    every = [step(SKEW % "").before, step(SKEW % "").inject, step(SKEW % "").verify, step(SKEW % "").undo]
    assert [told(one(here)) for one in (*every, step(SKEW % "").healed)] == [
        ["node1: fits"], ["node1: move"], ["node1: moved"], ["node1: restore"], ["node1: restored"],
    ]  # fmt: skip


@pytest.mark.parametrize(("more", "by"), [("", "3600000"), (", direction: back", "-3600000")])
def test_what_asks_and_what_moves_names_this_machine(inventory: Inventory, more: str, by: str) -> None:
    """So that a host can refuse by itself, in the moment in which it sets the clock."""
    here, own = site(inventory, it=HOSTS[:1]), Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    it = step(SKEW % more)
    (fits,), (move,) = it.before(here), it.inject(here)
    assert isinstance(fits, Fact)
    assert isinstance(fits.query, Command)
    assert isinstance(move, Run)
    assert fits.query.argv[6:] == move.command.argv[6:] == (own, by)


@pytest.mark.parametrize(
    ("fields", "by", "says"),
    [("drift: 5 %", "50000ppm", "+5 %"), ("drift: 1.5 %, direction: back", "-15000ppm", "-1.5 %")],
)
def test_a_drift(inventory: Inventory, fields: str, by: str, says: str) -> None:
    """In millionths of the time that passes; seeing it takes a while."""
    here, it = site(inventory, it=HOSTS[:1]), step(f"skew_clock: {{target: it, {fields}}}")
    (move,), (moved,) = it.inject(here), it.verify(here)
    assert isinstance(move, Run)
    assert isinstance(moved, Fact)
    assert move.command.argv[-1] == by
    assert moved.says == f"the clock of node1 is off by {says} of the time that passes"
    assert moved.within == 30.0


@pytest.mark.parametrize("fields", ["", ", offset: 1h, drift: 5 %", ", drift: 0.9 %", ", drift: 21 %", ", drift: -5 %"])
def test_either_a_jump_or_a_drift(fields: str) -> None:
    """Neither and both are refused, and a drift that could not be seen, or not be told from jumps."""
    with pytest.raises(ValidationError):
        step(f"skew_clock: {{target: it{fields}}}")


def test_it_harms_nobody_and_holds_the_clock(inventory: Inventory) -> None:
    """Servers go on; two steps on one clock contradict each other."""
    here = site(inventory, it=HOSTS[:2])
    assert list(step(SKEW % "").harm(here)) == []
    assert list(step(SKEW % "").holds(here)) == ["the clock of node1", "the clock of node2"]


def test_probes_have_no_clock_of_their_own(inventory: Inventory) -> None:
    """They are on chaosk's machine."""
    with pytest.raises(StepError, match="name hosts"):
        list(step(SKEW % "").inject(site(inventory, it=[PROBES])))


@pytest.mark.parametrize("offset", ["0s", "999ms", "-1h", "1"])
def test_a_skew_is_a_second_at_least(offset: str) -> None:
    """Less could not be told from what the measurement may be off."""
    with pytest.raises(ValidationError):
        step(f"skew_clock: {{target: it, offset: {offset}}}")
