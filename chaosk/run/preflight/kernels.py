"""Whether hosts have kernels, and so clocks, of their own: by the ids that kernels give themselves when they boot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chaosk.core.errors import ChaoskError
from chaosk.core.parallel import together
from chaosk.hosts.transport._contract import Transport
from chaosk.run.preflight.finding import Finding, bad, ok
from chaosk.spec.command import Command

_TODO = "leave skew_clock out, or take hosts with kernels of their own, as virtual machines"


def boot_ids(transport: Transport, hosts: Iterable[str]) -> dict[str, str]:
    """By host the id of its kernel's boot; empty where it does not tell."""
    names = tuple(hosts)

    def ask(host: str) -> str:
        try:
            result = transport.run(Command(host=host, argv=("cat", "/proc/sys/kernel/random/boot_id"), repeatable=True))
        except ChaoskError:
            return ""
        return result.stdout.strip() if result.ok else ""

    return dict(zip(names, together(ask, names), strict=True))


def apart(ids: Mapping[str, str], here: str) -> Iterator[Finding]:
    """Whether no host shares a clock with another or with chaosk's machine, whose id is ``here``. Pure."""
    for host, mine in ids.items():
        others = [other for other, its in ids.items() if its == mine and other != host]
        if not mine or not here:
            yield bad(host, "own clock", "which kernel it has cannot be told", _TODO)
        elif mine == here:
            yield bad(host, "own clock", "it shares kernel and clock with the machine that chaosk runs on", _TODO)
        elif others:
            yield bad(host, "own clock", f"it shares kernel and clock with {', '.join(others)}", _TODO)
        else:
            yield ok(host, "own clock", "no other host has this kernel")
