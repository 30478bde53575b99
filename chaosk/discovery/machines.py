"""The machines behind the addresses that a cluster names, and their names in the inventory. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chaosk.discovery.findings import Findings, Learned, Remark, Value
from chaosk.discovery.host_description import HostDescription

_NAME = re.compile(r"[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9.]+|.*:.*")
_DEFAULTS: Mapping[str, Value] = {"port": 22, "sudo": True}


@dataclass(slots=True)
class DiscoveredMachine:
    """One machine."""

    names: list[str]
    """What it is called: a name given for it, then the addresses by which it was named."""
    settings: dict[str, tuple[Value, str]] = field(default_factory=dict)
    """The keys of its host in the inventory, one in a block as ``ssh.config``, with their sources."""
    network: set[str] = field(default_factory=set)
    """Network addresses that its names resolve to."""
    said: HostDescription | None = None
    """What it says of itself; None if it was not asked, or did not answer."""
    why_not: str | None = None
    """Why it did not answer; None if it did or was not asked."""
    name: str = ""
    """Its name in the inventory."""
    fixed: bool = False
    """True if its name is given: by an inventory that is there, or by one of Ansible's."""

    def answers_to(self, addresses: Iterable[str]) -> bool:
        """Return True if one of these addresses is its own."""
        own = {*self.names, *self.network, *(self.said.addresses if self.said else ())}
        return not own.isdisjoint(addresses)


def machine_at(machines: Sequence[DiscoveredMachine], addresses: Iterable[str]) -> DiscoveredMachine | None:
    """Return the machine with one of these addresses; None if there is none yet."""
    asked = tuple(addresses)
    return next((machine for machine in machines if machine.answers_to(asked)), None)


def name_all(machines: Sequence[DiscoveredMachine]) -> None:
    """Give each machine its name: the given one, its own host name, or the address by which it was named."""
    taken = {machine.name for machine in machines if machine.fixed}
    for machine in machines:
        if not machine.fixed:
            machine.name = next(name for name in _candidates(machine) if name not in taken)
            taken.add(machine.name)


def host_findings(machines: Sequence[DiscoveredMachine]) -> Findings:
    """Return the hosts of the inventory."""
    facts = [
        Learned(("hosts", machine.name, *key.split(".")), value, source)
        for machine in machines
        for key, (value, source) in machine.settings.items()
        if _DEFAULTS.get(key) != value
    ]
    remarks = [
        Remark(("hosts", machine.name), f"not asked: {machine.why_not}") for machine in machines if machine.why_not
    ]
    return Findings(facts=tuple(facts), remarks=tuple(remarks))


def _candidates(machine: DiscoveredMachine) -> Iterable[str]:
    own = [machine.said.name] if machine.said is not None and not machine.said.name.startswith("localhost") else []
    for address in (*own, *machine.names):
        short = address if _NUMBER.fullmatch(address) else address.partition(".")[0]
        yield from (name for name in (short.lower(), address.lower()) if _NAME.fullmatch(name))
    stem = re.sub(r"[^a-z0-9]+", "-", machine.names[0].lower()).strip("-") or "host"
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, 10_000))
