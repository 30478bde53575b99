"""Commands that change the owner of a data directory: one constant script, run as root on the host. Pure."""

from __future__ import annotations

from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

Owner = Literal["nobody", "root"]
"""Accounts that every host has. Nobody logs in as one of them, so nobody gains access."""

TIMEOUT = 60.0
"""Time-out in seconds: a directory can have many thousand segments, of up to three files each."""


def fits(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Check that the owner can be changed and changed back."""
    return _command(host, "fits", folder, which, owner)


def change(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Give all files of the folder's owner below the folder to another account."""
    return _command(host, "change", folder, which, owner)


def is_changed(host: str, folder: str, which: str, owner: Owner) -> Command:
    """Check that nothing below the folder belongs to its original owner."""
    return _command(host, "changed", folder, which, owner)


def restore(host: str, folder: str, which: str) -> Command:
    """Restore the original owner."""
    return _command(host, "restore", folder, which)


def is_restored(host: str, folder: str, which: str) -> Command:
    """Check that there is no owner to restore."""
    return _command(host, "restored", folder, which)


def _command(host: str, *words: str) -> Command:
    argv = ("sh", "-c", script("owner"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=TIMEOUT, repeatable=True)
