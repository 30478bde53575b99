"""What a host is like, as far as a fault could change it, and whether it is like that again. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import structlog

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory, KafkaProcess, ScriptService

log = structlog.get_logger()

OURS = ("chaosk", "CHAOSK")
"""What every rule of ours names."""
TOUCHED = ("-A INPUT ", "-A OUTPUT ", "service ", "data ", "link ")
"""What chaosk changes besides what is its own: the chains it puts its jumps into, services, data directories, and the
links that name installations."""


def ask(inventory: Inventory, host: str) -> Command:
    """Ask what the host is like; the answer is a fact a line."""
    services = (process.service for process in inventory.processes(host))
    words = (
        word
        for service in services
        for word in (
            ("script", service.pid_file) if isinstance(service, ScriptService) else ("systemd", service.systemd)
        )
    )
    folders = dict.fromkeys(folder for process in inventory.processes(host) for folder in process.data)
    data = (word for folder in folders for word in ("data", folder))
    found = (process.installation for process in inventory.processes(host) if isinstance(process, KafkaProcess))
    links = (word for link in dict.fromkeys(one.link for one in found if one) for word in ("link", link))
    argv = ("sh", "-c", script("state"), "chaosk", *words, *data, *links)
    return Command(host=host, argv=argv, sudo=True, timeout=20.0, repeatable=True)


def changes(before: str, after: str) -> tuple[str, ...]:
    """The facts that are gone (``- FACT``) or new (``+ FACT``), in that order; or those in another order."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    found = (*(f"- {fact}" for fact in (old - new).elements()), *(f"+ {fact}" for fact in (new - old).elements()))
    if not found and before != after:
        return tuple(
            f"moved {one}" for one, two in zip(before.splitlines(), after.splitlines(), strict=True) if one != two
        )
    return found


def unhealed(changed: Iterable[str]) -> tuple[str, ...]:
    """Those changes that can be chaosk's: something of its own is left, or what it touches is not as it was.

    The rest is somebody else's: a program that blocks addresses, say, changes rules of its own all the time. A boot by
    itself is no change; what did not outlive it is.
    """
    return tuple(
        change
        for change in changed
        if (change.startswith("+") and any(mark in change for mark in OURS)) or any(each in change for each in TOUCHED)
    )


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """By sentence what on the hosts is not as it was, and can be chaosk's; every other change is only logged."""
    told: list[str] = []
    for host, state in before.items():
        if host not in after:
            told.append(f"{host}: it does not answer, so nobody knows whether it is as it was")
            continue
        changed = changes(state, after[host])
        booted = any(change.startswith("+ boot ") for change in changed)
        left = unhealed(changed)
        for change in changed:
            log.warning("host changed", host=host, change=change, ours=change in left)
        if left:
            since = ", and was booted meanwhile" if booted else ""
            told.append(f"{host}: it is not as it was{since}: {'; '.join(left[:5])}")
    return tuple(told)
