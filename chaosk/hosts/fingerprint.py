"""Compare the state of a host before and after a run, as far as a fault can change it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import structlog

from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory, KafkaProcess

log = structlog.get_logger()

OURS = ("chaosk", "CHAOSK")
"""Marks in the name of every rule, queue or file that chaosk makes."""
TOUCHED = ("-A INPUT ", "-A OUTPUT ", "service ", "data ", "link ")
"""Prefixes of facts about things that chaosk changes but does not own: the chains that it adds jumps to, services, data
directories, and the links to installations."""


def ask(inventory: Inventory, host: str) -> Command:
    """Return the command that prints the host's state, one fact a line."""
    words = (word for process in inventory.processes(host) for word in service.place(process)[:2])
    folders = dict.fromkeys(folder for process in inventory.processes(host) for folder in process.data)
    data = (word for folder in folders for word in ("data", folder))
    found = (process.installation for process in inventory.processes(host) if isinstance(process, KafkaProcess))
    links = (word for link in dict.fromkeys(one.link for one in found if one) for word in ("link", link))
    return script_command(host, "state", *words, *data, *links, timeout=20.0)


def changes(before: str, after: str) -> tuple[str, ...]:
    """Return the removed facts (``- FACT``), then the new ones (``+ FACT``); or ``moved FACT`` for another order."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    found = (*(f"- {fact}" for fact in (old - new).elements()), *(f"+ {fact}" for fact in (new - old).elements()))
    if not found and before != after:
        return tuple(
            f"moved {one}" for one, two in zip(before.splitlines(), after.splitlines(), strict=True) if one != two
        )
    return found


def unhealed(changed: Iterable[str]) -> tuple[str, ...]:
    """Select the changes that chaosk can have caused: leftovers of its own, and changes to what it touches.

    Other changes are ignored: a program that blocks addresses, for example, edits its own rules all the time. A reboot
    alone is no change; a fact that did not survive it is.
    """
    return tuple(
        change
        for change in changed
        if (change.startswith("+") and any(mark in change for mark in OURS)) or any(each in change for each in TOUCHED)
    )


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each host that is unreachable or has changes that chaosk can have caused.

    Every change is logged, also those of other programs.
    """
    told: list[str] = []
    for host, state in before.items():
        if host not in after:
            told.append(f"{host}: it does not answer, so its state is unknown")
            continue
        changed = changes(state, after[host])
        booted = any(change.startswith("+ boot ") for change in changed)
        left = unhealed(changed)
        for change in changed:
            log.warning("host changed", host=host, change=change, ours=change in left)
        if left:
            since = " (and it was booted since)" if booted else ""
            told.append(f"{host}: its state has changed{since}: {'; '.join(left[:5])}")
    return tuple(told)
