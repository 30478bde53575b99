"""Select the kind of a lab's hosts."""

from __future__ import annotations

from chaosk.lab import lab
from chaosk.lab.kept_hosts import KeptHosts
from chaosk.lab.lab import Lab
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import LabState
from chaosk.lab.vm_hosts import VmHosts


def kind_of(one: Lab) -> KeptHosts:
    """Return the hosts of a lab."""
    return VmHosts(one.state) if one.layout.hosts == "vms" else NamespaceHosts(one.state)


def present(state: LabState) -> KeptHosts:
    """Return the hosts of the lab with this state on disk; any kind can end those of an unfinished one."""
    found = lab.read(state)
    return NamespaceHosts(state) if found is None else kind_of(found)
