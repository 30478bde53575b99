"""Commands for a network cut on one host: one constant script that reads the rules from standard input. Pure.

``by`` selects the packet filter: ``nft``, whose cuts the kernel ends with their lease, ``iptables``, or ``auto``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from chaosk.hosts.firewall.rules import Action, Loss, Rule, stdin_of
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.fields import Firewall

REMEDY = "prevent firewalld, ufw, nftables or Docker on this host from reloading the packet filter during a run"
"""Remedy for a cut that did not last."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The identity of a cut, the same on every host."""

    chain: str
    """Base name of its chains, with the suffixes ``-I`` and ``-O``: 19 characters, of the 28 that iptables allows. With
    nft its table is ``chaosk-`` and the same digits."""
    comment: str
    """Comment of every jump to the chains, and of the table: run and timeline entry, for operators."""


def cut(run_id: str, entry: str) -> Cut:
    """Return the cut of one timeline entry of one run."""
    digest = hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]
    return Cut(chain=f"CHAOSK-{digest}", comment=f"chaosk:{run_id}:{entry}"[:200])


def install(host: str, which: Cut, rules: tuple[Rule, ...], action: Action | Loss, by: Firewall = "auto") -> Command:
    """Install the rules in one transaction (iptables: one for each family); repeating it replaces them."""
    return _command(host, "install", which, by, stdin_of(rules, action))


def standing(host: str, which: Cut, rules: tuple[Rule, ...], action: Action | Loss, by: Firewall = "auto") -> Command:
    """Check that exactly these rules are installed and come first; prints what they have stopped."""
    return _command(host, "standing", which, by, stdin_of(rules, action))


def lasts(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Check that the cut is in place; prints marks that identify it. Cheap enough to repeat, and needs no rules."""
    return _command(host, "lasts", which, by)


def remove(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Remove the cut completely, also if only parts of it are left."""
    return _command(host, "remove", which, by)


def gone(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Check that nothing of the cut is left; fails also if the packet filter does not answer."""
    return _command(host, "gone", which, by)


def _command(host: str, action: str, which: Cut, by: Firewall, stdin: str | None = None) -> Command:
    return script_command(host, "cut", action, which.chain, which.comment, by, stdin=stdin)
