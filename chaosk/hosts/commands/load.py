"""Commands for a load on a host, its processors or its memory: one constant script, run as root. Pure."""

from __future__ import annotations

import hashlib
from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Kind = Literal["cpu", "memory"]

QUICK = 20.0
"""Seconds for a command."""


def load_id(run_id: str, entry: str) -> str:
    """What marks the processes of a timeline entry."""
    return hashlib.sha256(f"{run_id}/{entry}".encode()).hexdigest()[:10]


def fits(host: str, kind: Kind, which: str, much: str) -> Command:
    """Whether the host can bear it: ``much`` is a number, of busy loops or KiB, or millionths like ``500000ppm``."""
    return _command(host, "fits", kind, which, much)


def put(host: str, kind: Kind, which: str, much: str) -> Command:
    """Start it; doing it again starts it anew. Needs a lease, with which it ends whoever dies."""
    return _command(host, "put", kind, which, much)


def stands(host: str, kind: Kind, which: str, much: str) -> Command:
    """Whether all of it is there, by what the kernel counts."""
    return _command(host, "stands", kind, which, much)


def lift(host: str, kind: Kind, which: str) -> Command:
    """End it."""
    return _command(host, "lift", kind, which)


def is_gone(host: str, kind: Kind, which: str) -> Command:
    """Whether no process of it is left."""
    return _command(host, "gone", kind, which)


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("load"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=QUICK, repeatable=True)
