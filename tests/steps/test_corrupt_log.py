"""corrupt_log: what it yields, and what its undo writes to."""

from __future__ import annotations

from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told


def test_its_life(inventory: Inventory) -> None:
    """Killed for sure, overwritten, started, recovered; the undo has the broker stopped before anything is written."""
    corrupt, here = step("corrupt_log: {target: it, topic: orders}"), site(inventory, it=BROKERS[1:2])
    assert told(corrupt.before(here)) == ["own_topic(orders)", "node2: awake", "node2: is", "node2: fits"]
    assert told(corrupt.inject(here)) == [
        "node2: hold", "node2: kill", "node2: stop", "node2: gone", "node2: corrupt", "node2: start",
        "node2: recovered", "node2: mend",
    ]  # fmt: skip
    assert told(corrupt.verify(here)) == ["node2: mended", "node2: awake", "broker_up(1)"]
    assert told(corrupt.undo(here)) == ["node2: stop", "node2: gone", "node2: mend", "node2: start"]
    assert told(corrupt.healed(here)) == ["node2: mended", "node2: awake", "broker_up(1)"]


def test_which_log_and_where(inventory: Inventory) -> None:
    """The partition that is named, in the directory that is named; the note on the host is this entry's alone."""
    here = site(inventory, it=BROKERS[:1])
    deeds = step("corrupt_log: {target: it, topic: orders, partition: 2, directory: 2}").undo(here)
    (mend,) = [deed.command.argv for deed in deeds if isinstance(deed, Run) and deed.command.argv[4] == "mend"]
    which = here.mark("/mnt/more", "orders-2")
    assert mend[5:7] == (which, "/mnt/more")
    assert mend[7:] == ("script", "/run/kafka.pid", "/etc/kafka/server.properties", "orders-2")
