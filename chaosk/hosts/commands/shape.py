"""Commands that delay, limit, duplicate or reorder outgoing packets: one constant script, run as root. Pure.

``how`` is in the syntax of ``tc``: the options of netem, or the rate of htb. The packets are selected by the same rules
as those of a cut.
"""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.commands.reversible import Reversible
from chaosk.hosts.firewall.rules import Rule, stdin_of
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command

Means = Literal["netem", "htb"]
"""The queueing discipline of the kernel; the first word of ``how``."""

TIMEOUT = 60.0
"""Time-out in seconds: the script starts some dozens of programs, which is slow on a busy virtual machine."""
_LEAST_BURST = 16 * 1024
_LEAST_QUEUE = 128 * 1024
_BY_RULES = ("fits", "put", "stands")


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


def shaped(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Reversible:
    """Return the commands on the queues of a host; a check that they are in place prints their traffic.

    The kernel restores its own queues. What other programs have configured is not touched.
    """
    text = stdin_of(rules)
    told = [script_command(host, "shape", action, which, how, timeout=TIMEOUT, stdin=text) for action in _BY_RULES]
    back = [script_command(host, "shape", action, which, timeout=TIMEOUT) for action in ("lift", "gone")]
    return Reversible(*told, *back)


def lasts(host: str, which: str) -> Command:
    """Check that the queues are in place; prints marks that identify them. Cheap enough to repeat, without rules."""
    return script_command(host, "shape", "lasts", which, timeout=TIMEOUT)
