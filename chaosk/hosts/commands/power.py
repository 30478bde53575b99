"""Commands that use a host's power switch or end its kernel. Pure: nothing here connects.

A switch is operated from the machine that runs chaosk (:data:`chaosk.hosts.localhost.HERE`), because a host that is off
cannot act. A kernel is ended by its host, after a check that the kernel is not shared.
"""

from __future__ import annotations

import shlex
from typing import Literal

from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host

End = Literal["reboot", "reset", "crash"]
"""``reboot``: a clean reboot; ``reset``: an immediate one that writes nothing to disk; ``crash``: a kernel panic."""

QUICK = 20.0
"""Time-out in seconds for a check."""
SWITCH = 60.0
"""Time-out in seconds for operating a switch and confirming it."""


def answers(host: Host) -> Command:
    """Check that the host's SSH server answers."""
    return _here(host, "answers", repeatable=True)


def is_silent(host: Host) -> Command:
    """Check that no SSH server answers on the host."""
    return _here(host, "silent", repeatable=True)


def is_on(host: Host) -> Command:
    """Check that the host's power is on; fails also if the state is unknown."""
    return _here(host, "is-on", repeatable=True)


def is_off(host: Host) -> Command:
    """Check that the host's power is off; fails also if the state is unknown."""
    return _here(host, "is-off", repeatable=True)


def off(host: Host) -> Command:
    """Switch the host off, unless it is off."""
    return _here(host, "off", timeout=SWITCH)


def on(host: Host) -> Command:
    """Switch the host on, unless it is on."""
    return _here(host, "on", timeout=SWITCH)


def revive(host: Host, grace: float) -> Command:
    """Switch the host on if it is off; power-cycle it if it stays silent for ``grace`` seconds. Idempotent."""
    within = host.boots_within
    timeout = grace + 2 * SWITCH + within
    return _here(host, "revive", f"{grace:.0f}", f"{within:.0f}", timeout=timeout)


def is_own(name: str, own: str) -> Command:
    """Check that the host has its own kernel; ``own``: boot id of the machine that runs chaosk."""
    return script_command(name, "boot", "own", own, timeout=QUICK)


def returns(name: str, own: str) -> Command:
    """Check that the host's kernel reboots after a panic."""
    return script_command(name, "boot", "returns", own, timeout=QUICK)


def end(name: str, own: str, lease: str, how: End) -> Command:
    """End the host's kernel shortly after the command has returned; refused unless the kernel is the host's own."""
    return script_command(name, "boot", "end", own, lease, how, timeout=QUICK, repeatable=False)


def has_booted(name: str, own: str, lease: str) -> Command:
    """Check that the host was booted since the lease was armed."""
    return script_command(name, "boot", "changed", own, lease, timeout=QUICK)


def _here(host: Host, action: str, *words: str, timeout: float = QUICK, repeatable: bool = False) -> Command:
    switch = () if host.power is None else (host.power.state, host.power.switch_off, host.power.switch_on)
    lines = (shlex.join(argv) for argv in switch)
    words = (action, host.address, str(host.port), *lines, *words)
    return script_command(HERE, "power", *words, timeout=timeout, repeatable=repeatable)
