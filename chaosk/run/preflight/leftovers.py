"""What former runs have left on the hosts, and who has the cluster now. Pure, but for the asking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosk.hosts import lock
from chaosk.hosts.lease import Held
from chaosk.hosts.transport._contract import Transport
from chaosk.run.preflight.finding import Finding, bad, ok


def holder(transport: Transport, host: str) -> str:
    """Who has the lock on a host, as ``RUN SECONDS ABOUT``; empty if nobody has."""
    result = transport.run(lock.show(host))
    return result.stdout.strip() if result.ok else ""


def held(holders: Mapping[str, str]) -> Iterator[Finding]:
    """Whether another run has the cluster; by host what :func:`holder` said."""
    on: dict[str, list[str]] = {}
    for host, said in holders.items():
        if said:
            _, _, rest = said.partition(" ")
            on.setdefault(rest.partition(" ")[2], []).append(host)
    for about, hosts in on.items():
        yield bad(
            "cluster", "lock", f"{about} has it (on {', '.join(hosts)})",
            "wait for it, or end it and heal with `chaosk halt --inventory FILE`",
        )  # fmt: skip
    if not on:
        yield ok("cluster", "lock", "nobody has it")


def leftovers(found: Mapping[str, tuple[Held, ...] | str], running: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """What :func:`chaosk.hosts.heal.find` found; the leases of ``running`` are no leftovers.

    One whose fault the host has undone by itself is left as well: somebody should know that the run was cut short.
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


def _name(one: Held) -> str:
    state = {
        "armed": f"heals itself in {one.left:.0f} s",
        "dead": "its timer is gone",
        "booted": "the host was booted since",
        "healed": "the host has undone it by itself",
    }[one.state]
    return f"{one.about.get('entry', one.id)} of {one.about.get('run', 'an unknown run')} ({state})"
