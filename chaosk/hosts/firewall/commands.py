"""A cut on one host as commands: one constant script, the rules on its standard input. Pure.

``by`` says what carries it out: ``nft``, whose cuts the kernel itself ends with their lease, ``iptables``, or ``auto``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from chaosk.hosts.firewall.rules import Action, Loss, Rule, words
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.fields import Firewall

REMEDY = "keep what manages this host's packet filter (firewalld, ufw, nftables, Docker) from loading it meanwhile"
"""What to do where a cut did not last."""
TIMEOUT = 30.0
"""Seconds for a command; another program may hold the lock of the packet filter for a while."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What identifies a cut on every host."""

    chain: str
    """Its chains are this with ``-I`` and ``-O``: 19 characters, of the 28 that iptables allows; or its table of nft
    is ``chaosk-`` with the same digits."""
    comment: str
    """In every jump to them, and in the table: run and timeline entry, for whoever finds it."""


def cut(run_id: str, entry: str) -> Cut:
    """The cut of one timeline entry of one run."""
    digest = hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]
    return Cut(chain=f"CHAOSK-{digest}", comment=f"chaosk:{run_id}:{entry}"[:200])


def install(host: str, which: Cut, rules: tuple[Rule, ...], action: Action | Loss, by: Firewall = "auto") -> Command:
    """Put the rules in place, in one transaction (iptables: one a family); doing it again replaces them."""
    return _command(host, "install", which, by, _text(rules, action))


def standing(host: str, which: Cut, rules: tuple[Rule, ...], action: Action | Loss, by: Firewall = "auto") -> Command:
    """Whether all the rules are there as asked, none more, and nothing comes before them; says what they stopped."""
    return _command(host, "standing", which, by, _text(rules, action))


def lasts(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Whether it is there, which is asked again and again: cheap, and needs no rules; says by marks which one it is."""
    return _command(host, "lasts", which, by)


def remove(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Remove exactly what was put in place, whatever is left of it."""
    return _command(host, "remove", which, by)


def gone(host: str, which: Cut, by: Firewall = "auto") -> Command:
    """Whether nothing of it is there; fails also where the packet filter does not answer."""
    return _command(host, "gone", which, by)


def _text(rules: tuple[Rule, ...], action: Action | Loss) -> str:
    return "".join(f"{line}\n" for rule in rules for line in words(rule, action))


def _command(host: str, action: str, which: Cut, by: Firewall, stdin: str | None = None) -> Command:
    argv = ("sh", "-c", script("cut"), "chaosk", action, which.chain, which.comment, by)
    return Command(host=host, argv=argv, sudo=True, stdin=stdin, timeout=TIMEOUT, repeatable=True)
