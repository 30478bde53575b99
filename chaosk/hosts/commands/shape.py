"""Commands for what leaves a host late, scarce or disorderly: one constant script, run as root. Pure.

``how`` is in the words of ``tc``: what its netem does to packets, or the rate that its htb lets pass. The packets are
said by the same rules as those of a cut.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from chaosk.hosts.firewall.rules import Rule, words
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Means = Literal["netem", "htb"]
"""Which queueing discipline of the kernel does it; the first word of ``how``."""

TIMEOUT = 60.0
"""Seconds for a command: it starts some dozens of programs, which takes a busy virtual machine a while."""
_LEAST_BURST = 16 * 1024
_LEAST_QUEUE = 128 * 1024


def shape_id(run_id: str, entry: str) -> str:
    """What marks the queues of a timeline entry."""
    return hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]


def netem(*told: str) -> str:
    """What netem is told."""
    return " ".join(("netem", *told))


def time(seconds: float) -> str:
    """Seconds as netem reads them, to the microsecond."""
    return f"{round(seconds * 1e6)}us"


def percent(share: float) -> str:
    """A share of one as netem reads it."""
    return f"{share * 100:.4f}%"


def rate(bits: int) -> str:
    """So many bits a second; a queue of a fifth of a second before it, or of 128 KiB if that is more."""
    burst, queue = max(bits // 800, _LEAST_BURST), max(bits // 40, _LEAST_QUEUE)
    return f"htb rate {bits}bit burst {burst} cburst {burst} limit {queue}"


def means(how: str) -> Means:
    """The first word of ``how``."""
    return "htb" if how.startswith("htb ") else "netem"


def fits(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Whether it can be placed: the kernel can, and nobody else has arranged the queues in question."""
    return _command(host, "fits", which, how, rules=rules)


def put(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Place it; doing it again places it anew."""
    return _command(host, "put", which, how, rules=rules)


def stands(host: str, which: str, how: str, rules: tuple[Rule, ...]) -> Command:
    """Whether all of it is there as asked, and nothing else; says what has passed through it."""
    return _command(host, "stands", which, how, rules=rules)


def lasts(host: str, which: str) -> Command:
    """Whether it is there, which is asked again and again: cheap, and needs no rules; says by marks which one it is."""
    return _command(host, "lasts", which)


def lift(host: str, which: str) -> Command:
    """Take it away, whatever is left of it; the kernel puts its own queues back."""
    return _command(host, "lift", which)


def is_gone(host: str, which: str) -> Command:
    """Whether nothing of it is there."""
    return _command(host, "gone", which)


def _command(host: str, *arguments: str, rules: tuple[Rule, ...] = ()) -> Command:
    text = "".join(f"{line}\n" for rule in rules for line in words(rule, "drop")) or None
    argv = ("sh", "-c", script("shape"), "chaosk", *arguments)
    return Command(host=host, argv=argv, sudo=True, stdin=text, timeout=TIMEOUT, repeatable=True)
