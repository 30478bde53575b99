"""Leftovers of earlier runs on the hosts, and the current holder of the lock. Pure, except for the requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosk.hosts import lock
from chaosk.hosts.lease import ReportedLease
from chaosk.hosts.transport._contract import Transport
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok


def holder(transport: Transport, host: str) -> str:
    """Return the holder of the lock on a host, as ``RUN SECONDS ABOUT``; empty if it is free."""
    result = transport.run(lock.show(host))
    return result.stdout.strip() if result.ok else ""


def held(holders: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a finding for each other run that holds the lock; ``holders``: result of :func:`holder` by host."""
    on: dict[str, list[str]] = {}
    for host, said in holders.items():
        if said:
            _, _, rest = said.partition(" ")
            on.setdefault(rest.partition(" ")[2], []).append(host)
    for about, hosts in on.items():
        yield bad(
            "cluster", "lock", f"held by {about} (on {', '.join(hosts)})",
            "wait for it, or end it and heal with `chaosk halt --inventory FILE`",
        )  # fmt: skip
    if not on:
        yield ok("cluster", "lock", "free")


def leftovers(
    found: Mapping[str, tuple[ReportedLease, ...] | str], running: frozenset[str] = frozenset()
) -> Iterator[Diagnostic]:
    """Yield findings for the result of :func:`chaosk.hosts.heal.find`; leases of ``running`` runs are no leftovers.

    A lease whose fault the host has healed itself is a leftover as well, since it shows that a run was cut short.
    """
    for host, leases in found.items():
        if isinstance(leases, str):
            yield bad(host, "leftovers", f"cannot be asked: {leases}", "see that it answers, then ask again")
            continue
        left = [one for one in leases if one.about.get("run") not in running]
        if left:
            told = ", ".join(_name(one) for one in left)
            seen = f"a former run left faults on the hosts: {told}"
            yield bad(host, "leftovers", seen, "do: chaosk heal --inventory FILE")
        else:
            yield ok(host, "leftovers", "no fault of a former run")


def _name(one: ReportedLease) -> str:
    state = {
        "armed": f"heals itself in {one.left:.0f} s",
        "dead": "its timer is gone",
        "booted": "the host was booted since",
        "healed": "already undone by the host",
    }[one.state]
    return f"{one.about.get('entry', one.id)} of {one.about.get('run', 'an unknown run')} ({state})"
