"""Shells that are kept on a connection, so that a command costs neither a login shell nor sudo; at most one of a kind.

A shell reads commands from its standard input, one after another, each in braces: what arrives in part because the
connection broke is a syntax error and does nothing.
"""

from __future__ import annotations

import threading

import paramiko


class Shells:
    """A host's idle shells: the account's and root's. Whoever takes one owns it until it is given back."""

    def __init__(self) -> None:
        """None yet."""
        self._idle: dict[bool, paramiko.Channel] = {}
        self._lock = threading.Lock()

    def take(self, client: paramiko.SSHClient, *, root: bool) -> paramiko.Channel | None:
        """An idle shell of this connection, if there is one that lives."""
        with self._lock:
            shell = self._idle.pop(root, None)
        if shell is None or shell.closed or shell.eof_received:
            return None
        return shell if shell.get_transport() is client.get_transport() else None

    def give(self, shell: paramiko.Channel, *, root: bool) -> None:
        """Keep a shell that has answered in full; it is closed if there is one already, because sshd counts them."""
        with self._lock:
            kept = self._idle.setdefault(root, shell)
        if kept is not shell:
            shell.close()

    def clear(self) -> None:
        """Close them all."""
        with self._lock:
            shells = list(self._idle.values())
            self._idle.clear()
        for shell in shells:
            shell.close()
