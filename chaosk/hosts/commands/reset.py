"""Commands that end the established connections of a host: one constant script, run as root. Pure.

The rules of a cut select the connections: those that the cut would stop.
"""

from __future__ import annotations

from chaosk.hosts.firewall.rules import Rule, stdin_of
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command


def fits(host: str) -> Command:
    """Check that the host's kernel can end connections, by a test with one of its own."""
    return script_command(host, "reset", "fits")


def end(host: str, rules: tuple[Rule, ...]) -> Command:
    """End the connections once and print them; fails if there were none, or if one of them is left."""
    return script_command(host, "reset", "end", stdin=stdin_of(rules), repeatable=False)
