"""Detection of hosts that share a kernel, and so a clock, by the kernels' boot ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chaosk.core.errors import ChaoskError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.transport._contract import Transport
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.command import Command

_TODO = "leave skew_clock out, or take hosts with kernels of their own, as virtual machines"


def boot_ids(transport: Transport, hosts: Iterable[str]) -> dict[str, str]:
    """Return the boot id of each host's kernel; empty if it is unknown."""
    names = tuple(hosts)

    def ask(host: str) -> str:
        try:
            result = transport.run(Command(host=host, argv=("cat", "/proc/sys/kernel/random/boot_id"), repeatable=True))
        except ChaoskError:
            return ""
        return result.stdout.strip() if result.ok else ""

    return dict(zip(names, parallel_map(ask, names), strict=True))


def apart(ids: Mapping[str, str], here: str) -> Iterator[Diagnostic]:
    """Yield a finding for each host: bad if it shares its clock with another one or this machine (``here``). Pure."""
    for host, mine in ids.items():
        others = [other for other, its in ids.items() if its == mine and other != host]
        if not mine or not here:
            yield bad(host, "own clock", "its kernel cannot be identified", _TODO)
        elif mine == here:
            yield bad(host, "own clock", "it shares kernel and clock with the machine that chaosk runs on", _TODO)
        elif others:
            yield bad(host, "own clock", f"it shares kernel and clock with {', '.join(others)}", _TODO)
        else:
            yield ok(host, "own clock", "no other host has this kernel")
