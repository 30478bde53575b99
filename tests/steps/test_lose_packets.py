"""lose_packets: the places of a cut, and a share in place of all."""

from __future__ import annotations

import pytest

from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, EVERYONE, HOSTS, site, step, told

LOSE = "lose_packets: {between: [it, that], share: 12.5 %, direction: in}"
CUT = "cut_network: {between: [it, that], direction: in}"


def test_its_rules_are_those_of_a_cut_by_chance(inventory: Inventory) -> None:
    """Line by line; what a cut lets through, a loss lets through as well."""
    here = site(inventory, it=HOSTS[:1], that=[EVERYONE])
    (lose,), (cut,) = step(LOSE).inject(here), step(CUT).inject(here)
    assert isinstance(lose, Run)
    assert isinstance(cut, Run)
    chance = "-m statistic --mode random --probability 0.1250 -j DROP"
    assert lose.command.stdin == (cut.command.stdin or "").replace("-j DROP", chance)
    assert lose.command.argv == cut.command.argv


def test_its_life(inventory: Inventory) -> None:
    """Nothing of it is there, it is put in place, it stands, it is taken away."""
    here = site(inventory, it=BROKERS[:1], that=BROKERS[1:])
    every = [step(LOSE).before, step(LOSE).inject, step(LOSE).verify, step(LOSE).undo, step(LOSE).healed]
    assert [told(one(here)) for one in every] == [
        ["node1: gone"], ["node1: install"], ["node1: standing"], ["node1: remove"], ["node1: gone"],
    ]  # fmt: skip


def test_it_counts_as_a_cut(inventory: Inventory) -> None:
    """For the limits of harm, and for what cannot be in place with it."""
    here = site(inventory, it=HOSTS[:1], that=[EVERYONE])
    assert list(step(LOSE).harm(here)) == list(step(CUT).harm(here))
    assert list(step(LOSE).holds(here)) == list(step(CUT).holds(here))


@pytest.mark.parametrize("share", ["0 %", "100 %", "0.001 %", "half"])
def test_a_share_is_a_part(share: str) -> None:
    """None, all, or what no packet filter can draw is refused."""
    with pytest.raises(ValueError, match=r"greater than or equal|less than 1|not a share"):
        step(f"lose_packets: {{between: [a, b], share: {share}}}")
