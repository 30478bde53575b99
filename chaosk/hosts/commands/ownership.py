"""Commands for the owner of a data directory: one constant script, run as root on the host. Pure."""

from __future__ import annotations

import hashlib
from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Owner = Literal["nobody", "root"]
"""Accounts that every host has, and whose new rights help nobody who logs in."""

TIMEOUT = 60.0
"""Seconds for a command: there may be a file or three for each of many thousand segments."""


def owner_id(run_id: str, entry: str, folder: str) -> str:
    """What names the note of whose it was, on the host."""
    return hashlib.sha256(f"{run_id}/{entry}/{folder}".encode()).hexdigest()[:10]


def fits(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Whether the owner can be changed, and changed back."""
    return _command(host, "fits", folder, which, owner)


def change(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Give all that the folder's owner has there to another account."""
    return _command(host, "change", folder, which, owner)


def is_changed(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Whether nothing there belongs to its former owner."""
    return _command(host, "changed", folder, which, owner)


def restore(host: str, folder: str, which: str) -> Command:
    """Give it back."""
    return _command(host, "restore", folder, which)


def is_restored(host: str, folder: str, which: str) -> Command:
    """Whether there is nothing to give back."""
    return _command(host, "restored", folder, which)


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("owner"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
