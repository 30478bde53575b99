"""kill_broker by the kernel: what it yields beyond what a signal does."""

from __future__ import annotations

from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told

BY_KERNEL = "kill_broker: {target: it, how: oom_killer}"


def test_its_life(inventory: Inventory) -> None:
    """It would be the victim, the kernel is told, it is gone and the log says why; it is spared and started."""
    kill, here = step(BY_KERNEL), site(inventory, it=BROKERS[1:2])
    assert told(kill.before(here)) == ["node2: runs", "node2: is", "node2: fits", "node2: fits"]
    assert told(kill.inject(here)) == ["node2: hold", "node2: kill"]
    assert told(kill.verify(here)) == ["node2: gone", "not(broker_up(1))", "node2: held", "node2: killed"]
    assert told(kill.undo(here)) == ["node2: spare", "node2: release", "node2: start"]
    assert told(kill.healed(here)) == ["node2: spared", "node2: released", "node2: awake", "broker_up(1)"]


def test_a_signal_asks_no_kernel(inventory: Inventory) -> None:
    """It goes on any host, as ever."""
    kill, here = step("kill_broker: {target: it}"), site(inventory, it=BROKERS[1:2])
    assert told(kill.inject(here)) == ["node2: hold", "node2: kill"]
    assert told(kill.undo(here)) == ["node2: release", "node2: start"]
    assert told(kill.suits(here)) == ["node2: is", "node2: fits"]
    assert all(kill.refused(inventory, name) is None for name in inventory.hosts)


def test_the_kernel_is_told_once_and_under_the_lease(inventory: Inventory) -> None:
    """Told again after a connection was lost, it would kill the next one; the note is in the lease's own folder."""
    _, deed = step(BY_KERNEL).inject(site(inventory, it=BROKERS[:1]))
    assert isinstance(deed, Run)
    assert not deed.command.repeatable
    assert deed.command.argv[4:7] == ("kill", "", "run-1.entry")
