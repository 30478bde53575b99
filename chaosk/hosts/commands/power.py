"""Commands for a host's power switch and for its kernel's end. Pure: nothing here connects.

A switch is thrown from the machine that chaosk runs on (:data:`chaosk.hosts.localhost.HERE`), because a host that is
off can do nothing; a kernel is ended by its host, which proves first that it is its own.
"""

from __future__ import annotations

import shlex
from typing import Literal

from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host

End = Literal["reboot", "reset", "crash"]
"""``reboot``: the clean way; ``reset``: at once, with nothing written any more; ``crash``: a panic of the kernel."""

QUICK = 20.0
"""Seconds for a question."""
SWITCH = 60.0
"""Seconds to throw a switch and see that it is thrown."""


def answers(host: Host) -> Command:
    """Whether its SSH server answers."""
    return _here(host, "answers", repeatable=True)


def is_silent(host: Host) -> Command:
    """Whether no SSH server answers there."""
    return _here(host, "silent", repeatable=True)


def is_on(host: Host) -> Command:
    """Whether its power is on; fails also where nobody can tell."""
    return _here(host, "is-on", repeatable=True)


def is_off(host: Host) -> Command:
    """Whether its power is off; fails also where nobody can tell."""
    return _here(host, "is-off", repeatable=True)


def off(host: Host) -> Command:
    """Switch it off, unless it is."""
    return _here(host, "off", timeout=SWITCH)


def on(host: Host) -> Command:
    """Switch it on, unless it is."""
    return _here(host, "on", timeout=SWITCH)


def revive(host: Host, grace: float) -> Command:
    """Have it answer: on if it is off, off and on if it stays silent for ``grace`` seconds. Twice is as once."""
    within = host.boots_within
    timeout = grace + 2 * SWITCH + within
    return _here(host, "revive", f"{grace:.0f}", f"{within:.0f}", timeout=timeout)


def is_own(name: str, own: str) -> Command:
    """Whether the host has a kernel of its own; ``own``: the boot id of the machine that chaosk runs on."""
    return _there(name, "own", own, repeatable=True)


def returns(name: str, own: str) -> Command:
    """Whether its kernel boots again by itself after a panic."""
    return _there(name, "returns", own, repeatable=True)


def end(name: str, own: str, lease: str, how: End) -> Command:
    """End its kernel, a moment after the command has ended; refused unless that kernel is the host's own."""
    return _there(name, "end", own, lease, how)


def has_booted(name: str, own: str, lease: str) -> Command:
    """Whether it was booted since the lease was armed there."""
    return _there(name, "changed", own, lease, repeatable=True)


def _here(host: Host, action: str, *words: str, timeout: float = QUICK, repeatable: bool = False) -> Command:
    switch = () if host.power is None else (host.power.state, host.power.switch_off, host.power.switch_on)
    lines = (shlex.join(argv) for argv in switch)
    argv = ("sh", "-c", script("power"), "chaosk", action, host.address, str(host.port), *lines, *words)
    return Command(host=HERE, argv=argv, timeout=timeout, repeatable=repeatable)


def _there(name: str, action: str, *words: str, repeatable: bool = False) -> Command:
    argv = ("sh", "-c", script("boot"), "chaosk", action, *words)
    return Command(host=name, argv=argv, sudo=True, timeout=QUICK, repeatable=repeatable)
