"""Commands that end the established connections of a host: one constant script, run as root. Pure.

Which connections is said by the rules of a cut: those that it would stop.
"""

from __future__ import annotations

from chaosk.hosts.firewall.rules import Rule, words
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 30.0
"""Seconds for a command."""


def fits(host: str) -> Command:
    """Whether the host's kernel can end connections; tried on one of its own."""
    return Command(host=host, argv=_argv("fits"), sudo=True, timeout=TIMEOUT, repeatable=True)


def end(host: str, rules: tuple[Rule, ...]) -> Command:
    """End them once; fails if there was none, or if any that was there still is. Says which they were."""
    text = "".join(f"{line}\n" for rule in rules for line in words(rule, "drop"))
    return Command(host=host, argv=_argv("end"), sudo=True, stdin=text, timeout=TIMEOUT)


def _argv(action: str) -> tuple[str, ...]:
    return ("sh", "-c", script("reset"), "chaosk", action)
