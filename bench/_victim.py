"""Faults on a real host by chaosk's own engine, each in a process that kills itself at a named point of its life.

``python bench/_victim.py``: on stdin come lines of JSON: inventory, folder, run, entry, point, patience. For each a
process is forked, whose id is printed, and then how it ended, as ``subprocess`` would say it (-14 if it was not over
after so many seconds of patience); starting an interpreter for each took a third of a campaign. What it says goes to
``victim`` in the folder. Points: ``before_arm`` (the undo is journaled here), ``armed``, ``injected`` (the first deed
is done), ``verified``, ``healing`` (the first deed of the undo is done), ``disarming`` (all is undone), ``never``
(somebody else kills it: the fault stays until then).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from chaosk import lab
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.document import load_inventory
from chaosk.hosts.localhost import kept
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.local import RoutingTransport
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.resolve import aim
from chaosk.run.executor import Executor
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.leases import Leases, Tell, nobody
from chaosk.run.naming import Naming
from chaosk.spec.contracts.step import Deed, PreparedFault
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry


class Doom:
    """Ends this process with SIGKILL when its point is reached: nothing of Python runs any more."""

    def __init__(self, point: str) -> None:
        self._point = point
        self.deed = "injected"
        """The point that a deed leads to: another one once the fault is being undone."""

    def at(self, point: str) -> None:
        """Die here if this is the point."""
        if point == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalLeases(Leases):
    """Leases of a run that may die before and after arming, and before disarming."""

    def __init__(self, transport: Transport, spec: dict[str, Any], longest: float, doom: Doom) -> None:
        super().__init__(transport, spec["run"], "the campaign", longest)
        self.doom = doom

    def arm(self, fault: PreparedFault, entry: Entry, tell: Tell = nobody) -> None:
        """Arm, or die."""
        self.doom.at("before_arm")
        super().arm(fault, entry, tell)
        self.doom.at("armed")

    def disarm(self, fault: PreparedFault) -> str | None:
        """Disarm, or die."""
        self.doom.at("disarming")
        return super().disarm(fault)


@dataclass(frozen=True, slots=True)
class MortalHands(Executor):
    """Hands of a run that may die after their first deed."""

    doom: Doom = field(kw_only=True)

    def do(self, deed: Deed, stop: threading.Event) -> str:
        """Carry it out, then perhaps die."""
        said = Executor.do(self, deed, stop)
        self.doom.at(self.doom.deed)
        return said


def main(spec: dict[str, Any]) -> None:
    """Inject, hold, undo; die on the way."""
    inventory = load_inventory(Path(spec["inventory"]))
    if not isinstance(inventory, Inventory) or inventory.network_namespace is None:
        raise SystemExit("the inventory is no lab's")
    lab.enter(inventory.network_namespace)
    doom = Doom(spec["point"])
    transport = RoutingTransport(Ssh(inventory.hosts), kept(inventory.name))
    brokers = Brokers(inventory, client_settings(inventory))
    leases = MortalLeases(transport, spec, inventory.longest_lease, doom)
    naming = Naming(inventory)
    live = LiveCluster(inventory, brokers, _nobody, names=naming)
    hands = MortalHands(inventory, transport, live, _nobody, _nobody, naming.change, doom=doom)
    faults = Faults(hands, Journal(Path(spec["folder"])), leases, _unrecorded)
    entry = Entry.model_validate(spec["entry"])
    if entry.step.names:
        naming.open(Path(spec["folder"]) / "names")
    life = faults.inject(aim(entry, inventory, live, 1, spec["run"]), entry, threading.Event())
    doom.at("verified")
    print("verified", flush=True)
    if spec["point"] == "never":
        signal.pause()
    doom.deed = "healing"
    faults.end(life)
    print("healed" if life.undone else f"not healed: {life.why}", flush=True)


def _unrecorded(life: FaultProgress) -> None:
    """No event is written: the host alone is asked."""


def _nobody(*_: object) -> Any:
    raise AssertionError("no fault of the campaign asks for this")


def victim(spec: dict[str, Any]) -> NoReturn:
    """Become one."""
    with (Path(spec["folder"]) / "victim").open("w", encoding="utf-8") as words:
        os.dup2(words.fileno(), 1)
        os.dup2(words.fileno(), 2)
    signal.alarm(spec["patience"])
    status = 1
    try:
        main(spec)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            victim(json.loads(line))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
