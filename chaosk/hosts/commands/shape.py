"""Commands that delay, limit, duplicate or reorder outgoing packets: one constant script, run as root. Pure.

``how`` is in the syntax of ``tc``: the options of netem, or the rate of htb. The packets are selected by the same rules
as those of a cut.
"""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.firewall.rules import Rule, words
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Means = Literal["netem", "htb"]
"""The queueing discipline of the kernel; the first word of ``how``."""

TIMEOUT = 60.0
"""Time-out in seconds: the script starts some dozens of programs, which is slow on a busy virtual machine."""
_LEAST_BURST = 16 * 1024
_LEAST_QUEUE = 128 * 1024


def netem(*told: str) -> str:
    """Return the arguments of netem."""
    return " ".join(("netem", *told))


def time(seconds: float) -> str:
    """Format seconds for netem, in microseconds."""
    return f"{round(seconds * 1e6)}us"


def percent(share: float) -> str:
    """Format a share of one for netem."""
    return f"{share * 100:.4f}%"


def rate(bits: int) -> str:
    """Return an htb limit of so many bits a second; its queue holds a fifth of a second, at least 128 KiB."""
    burst, queue = max(bits // 800, _LEAST_BURST), max(bits // 40, _LEAST_QUEUE)
    return f"htb rate {bits}bit burst {burst} cburst {burst} limit {queue}"


def means(how: str) -> Means:
    """Return the first word of ``how``."""
    return "htb" if how.startswith("htb ") else "netem"


def fits(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Check that the kernel supports it and that the queues are not configured by others."""
    return _command(host, "fits", which, how, rules=rules)


def put(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Install the queues; repeating it installs them again."""
    return _command(host, "put", which, how, rules=rules)


def stands(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Check that exactly the requested queues are installed; prints their traffic."""
    return _command(host, "stands", which, how, rules=rules)


def lasts(host: str, which: str) -> Command:
    """Check that the queues are in place; prints marks that identify them. Cheap enough to repeat, without rules."""
    return _command(host, "lasts", which)


def lift(host: str, which: str) -> Command:
    """Remove the queues, also if only parts are left; the kernel restores its own."""
    return _command(host, "lift", which)


def is_gone(host: str, which: str) -> Command:
    """Check that nothing of the queues is left."""
    return _command(host, "gone", which)


def _command(host: str, *arguments: str, rules: tuple[Rule, ...] = ()) -> Command:
    text = "".join(f"{line}\n" for rule in rules for line in words(rule, "drop")) or None
    argv = ("sh", "-c", script("shape"), "chaosk", *arguments)
    return Command(host=host, argv=argv, sudo=True, stdin=text, timeout=TIMEOUT, repeatable=True)
