"""Persistent shells on a connection, one at most of each kind: a command then needs no login shell and no sudo.

A shell reads commands from its standard input, each in braces. A command that arrives incomplete because the connection
broke is a syntax error and does nothing.
"""

from __future__ import annotations

import threading

import paramiko


class Shells:
    """A host's idle shells: the account's and root's. A taken shell belongs to its taker until it is returned."""

    def __init__(self) -> None:
        """Start without shells."""
        self._idle: dict[bool, paramiko.Channel] = {}
        self._lock = threading.Lock()

    def take(self, client: paramiko.SSHClient, *, root: bool) -> paramiko.Channel | None:
        """Return an idle, live shell of this connection, if there is one."""
        with self._lock:
            shell = self._idle.pop(root, None)
        if shell is None or shell.closed or shell.eof_received:
            return None
        return shell if shell.get_transport() is client.get_transport() else None

    def give(self, shell: paramiko.Channel, *, root: bool) -> None:
        """Return a shell after a complete answer; it is closed if one is idle already, because sshd limits sessions."""
        with self._lock:
            kept = self._idle.setdefault(root, shell)
        if kept is not shell:
            shell.close()

    def clear(self) -> None:
        """Close all idle shells."""
        with self._lock:
            shells = list(self._idle.values())
            self._idle.clear()
        for shell in shells:
            shell.close()
