"""Facts about a host, fetched in one round trip by ``hosts/scripts/examine.sh``. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from chaosk.core.errors import StepError
from chaosk.hosts.commands.service import program_of
from chaosk.hosts.scripts import script
from chaosk.run.preflight.host_requirements import OPTIONAL, HostRequirements
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory, ScriptService, SystemdService

LEASES = "/var/lib/chaosk"
"""Folder of leases and lock on hosts."""
CHANCE = ("numgen", "statistic")
"""Kernel features that drop packets at random: of nft and of iptables."""
TRIALS = ("netem", "htb", "timeouts", *CHANCE)
"""Kernel features that can be tested."""


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Size of a file system and its free space, in KiB."""

    free: int
    size: int
    writable: bool


@dataclass(frozen=True, slots=True)
class CapabilityTest:
    """The result of testing a feature; None if it could not be tested."""

    works: bool | None
    why: str = ""
    flavour: str = ""
    """For iptables: ``nf_tables``, ``legacy`` or ``none``."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts about one host."""

    uid: int
    timer: str = ""
    """``systemd`` or ``setsid``: the program that starts the timer of a lease."""
    release: str = ""
    """Release of the kernel."""
    tools: dict[str, bool] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    """The account that runs each program that starts or stops a server: ``root`` or another one, ``no`` if the program
    is missing, ``shared`` if it is root's and another account can replace it."""
    units: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, str] = field(default_factory=dict)
    """Restart= and RestartSec= of systemd units, like ``on-failure 5s``."""
    space: dict[str, DiskSpace] = field(default_factory=dict)
    filters: dict[str, CapabilityTest] = field(default_factory=dict)
    kernel: dict[str, CapabilityTest] = field(default_factory=dict)


def ask(inventory: Inventory, host: str, needs: HostRequirements, *, thorough: bool) -> Command:
    """Return the command that fetches the facts; ``thorough`` also tests features that no run needs."""
    services = [process.service for process in inventory.processes(host)]
    scripted = [one for one in services if isinstance(one, ScriptService)]
    units = [one.systemd for one in services if isinstance(one, SystemdService)]
    programs = [program_of(argv) for one in scripted for argv in (one.start, one.stop)]
    timed = ("systemctl", "systemd-run")
    words = [
        *_each("tool", (*needs.tools, *timed, *(OPTIONAL if thorough else ()))),
        *_each("program", programs),
        *_each("unit", units),
        *_each("space", (LEASES, *(folder for process in inventory.processes(host) for folder in process.data))),
        *_each("filter", ("iptables", "ip6tables", "nft") if needs.cuts else ()),
        *_each("kernel", TRIALS if thorough else (*needs.queues, *(CHANCE if needs.losses else ()))),
    ]
    argv = ("sh", "-c", script("examine"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=20.0, repeatable=True)


def read(host: str, said: str) -> HostFacts | None:
    """Parse the answer to :func:`ask`; None if it is no answer. Raises StepError for a malformed one."""
    if not said.startswith("uid "):
        return None
    facts = HostFacts(uid=-1)
    try:
        for line in said.splitlines():
            facts = _with(facts, line)
    except ValueError as error:
        raise StepError(f"{host}: cannot parse the facts of this host: {line[:200]!r}") from error
    return facts


def _with(facts: HostFacts, line: str) -> HostFacts:
    """Add one line to the facts."""
    kind, _, rest = line.partition(" ")
    name, _, said = rest.partition(" ")
    match kind:
        case "uid":
            changes: dict[str, Any] = {"uid": int(rest)}
        case "timer" | "release":
            changes = {kind: rest}
        case "tool":
            changes = {"tools": {**facts.tools, name: said == "yes"}}
        case "program":
            name, _, said = rest.rpartition(" ")  # its path may contain blanks
            changes = {"programs": {**facts.programs, name: said}}
        case "unit":
            changes = {"units": {**facts.units, name: said}}
        case "restart":
            changes = {"restarts": {**facts.restarts, name: said}}
        case "space":
            path, free, size, writable = rest.rsplit(" ", 3)
            changes = {"space": {**facts.space, path: DiskSpace(int(free), int(size), writable == "yes")}}
        case "filter":
            flavour, works, why = (*said.split(" ", 2), "")[:3]
            changes = {"filters": {**facts.filters, name: CapabilityTest(works == "yes", why, flavour)}}
        case "kernel":
            works, _, why = said.partition(" ")
            changes = {"kernel": {**facts.kernel, name: CapabilityTest({"yes": True, "no": False}.get(works), why)}}
        case _:
            raise ValueError(line)
    return replace(facts, **changes)


def _each(kind: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for name in dict.fromkeys(names) for word in (kind, name))
