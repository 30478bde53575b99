"""Power switches of a lab's virtual machines: ``chaosk lab power``, like the command line of a hypervisor."""

from __future__ import annotations

from chaosk.core.errors import LabError, UsageError
from chaosk.lab import lab, privilege
from chaosk.lab.vm_hosts import VmHosts
from chaosk.spec.inventory import Inventory, Power


def off(name: str, host: str) -> None:
    """Cut a machine's power, unless it is off; raises LabError, UsageError."""
    hosts = _machines(name, host)
    if hosts.runs(host):
        hosts.switch_off(host)


def on(name: str, host: str) -> None:
    """Switch a machine on; returns before it has booted. Raises LabError, UsageError."""
    hosts = _machines(name, host)
    if not hosts.runs(host):
        hosts.start(host)


def state(name: str, host: str) -> str:
    """Return ``on`` or ``off``; raises LabError, UsageError."""
    return "on" if _machines(name, host).runs(host) else "off"


def inventory(found: Inventory, name: str) -> Inventory:
    """Return ``found`` with a power switch for each host: this chaosk, independent of directory and environment."""
    hosts = {host: one.model_copy(update={"power": _switch(name, host)}) for host, one in found.hosts.items()}
    return found.model_copy(update={"hosts": hosts})


def _switch(name: str, host: str) -> Power:
    off, on, asked = (privilege.here(["power", word, host, "--name", name]) for word in ("off", "on", "state"))
    return Power(switch_off=off, switch_on=on, state=asked)


def _machines(name: str, host: str) -> VmHosts:
    present = lab.present(name)
    present.seat(host)
    if present.layout.hosts != "vms":
        raise UsageError(f"lab {name} has namespaces, which have no power switch; for machines: lab up --hosts vms")
    hosts = VmHosts(present.state)
    if not hosts.alive():
        raise LabError(f"lab {name}: its keeper is gone, and all machines with it; do: chaosk lab up --name {name}")
    return hosts
