"""Commands that end the established connections of a host: one constant script, run as root. Pure.

The rules of a cut select the connections: those that the cut would stop.
"""

from __future__ import annotations

from chaosk.hosts.firewall.rules import Rule, words
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

TIMEOUT = 30.0
"""Time-out in seconds."""


def fits(host: str) -> Command:
    """Check that the host's kernel can end connections, by a test with one of its own."""
    return Command(host=host, argv=_argv("fits"), sudo=True, timeout=TIMEOUT, repeatable=True)


def end(host: str, rules: tuple[Rule, ...]) -> Command:
    """End the connections once and print them; fails if there were none, or if one of them is left."""
    text = "".join(f"{line}\n" for rule in rules for line in words(rule, "drop"))
    return Command(host=host, argv=_argv("end"), sudo=True, stdin=text, timeout=TIMEOUT)


def _argv(action: str) -> tuple[str, ...]:
    return ("sh", "-c", script("reset"), "chaosk", action)
