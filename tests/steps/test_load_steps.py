"""burn_cpu and eat_memory: what they yield, and what is refused."""

from __future__ import annotations

import pytest

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, PROBES, ZOOKEEPERS, site, step, told

EACH = [("burn_cpu", "cores: 2", "cpu", "2"), ("burn_cpu", "share: 12.5 %", "cpu", "125000ppm")]
EACH += [("eat_memory", "size: 3MiB", "memory", "3072"), ("eat_memory", "share: 50 %", "memory", "500000ppm")]


@pytest.mark.parametrize(("kind", "much", "what", "word"), EACH)
def test_its_life(inventory: Inventory, kind: str, much: str, what: str, word: str) -> None:
    """The host can bear it, it is started, it is felt, it is ended, nothing is left; how much goes along."""
    load, here = step(f"{kind}: {{target: it, {much}}}"), site(inventory, it=BROKERS[1:2])
    assert told(load.before(here)) == ["node2: fits"]
    (deed,) = load.inject(here)
    assert isinstance(deed, Run)
    action, of, which, how = deed.command.argv[4:]
    assert (action, of, how) == ("put", what, word)
    (back,) = load.undo(here)
    assert isinstance(back, Run)
    assert back.command.argv[4:] == ("lift", what, which)
    assert told(load.verify(here)) == ["node2: stands"]
    assert told(load.healed(here)) == ["node2: gone"]


@pytest.mark.parametrize(("kind", "much"), [("burn_cpu", "cores: 1"), ("eat_memory", "size: 1MiB")])
def test_a_host_is_loaded_once(inventory: Inventory, kind: str, much: str) -> None:
    """Whatever of it is named; and two loads of a kind contradict each other there, not those of two kinds."""
    load = step(f"{kind}: {{target: it, {much}}}")
    every = site(inventory, it=(*BROKERS, *ZOOKEEPERS, *HOSTS))
    assert told(load.inject(every)) == ["node1: put", "node2: put", "node3: put"]
    assert list(load.holds(every)) == list(load.holds(site(inventory, it=HOSTS)))
    other = step("eat_memory: {target: it, size: 1MiB}" if kind == "burn_cpu" else "burn_cpu: {target: it, cores: 1}")
    assert not set(load.holds(every)) & set(other.holds(every))
    assert list(load.harm(every)) == []


def test_probes_are_on_no_host(inventory: Inventory) -> None:
    """The machine that chaosk runs on is not loaded by mistake."""
    with pytest.raises(StepError, match=r"the target 'it' names .*; name hosts"):
        list(step("burn_cpu: {target: it, cores: 1}").inject(site(inventory, it=(PROBES,))))


@pytest.mark.parametrize(
    "text",
    [
        "burn_cpu: {target: it}",
        "burn_cpu: {target: it, cores: 1, share: 1 %}",
        "burn_cpu: {target: it, cores: 0}",
        "burn_cpu: {target: it, share: 0 %}",
        "burn_cpu: {target: it, share: 101 %}",
        "eat_memory: {target: it}",
        "eat_memory: {target: it, size: 1MiB, share: 1 %}",
        "eat_memory: {target: it, size: 1B}",
    ],
)
def test_how_much_is_said_once_and_makes_sense(text: str) -> None:
    """One of the two ways, and more than nothing."""
    with pytest.raises(ValueError, match=r"exactly one of|greater than|not a share"):
        step(text)
