"""Passwords of accounts: each read or asked for once in a process, kept in its memory only, and never tried in vain.

Servers lock accounts after a few wrong passwords, and several hosts may check the same account. So until a password was
accepted once, hosts try it one after the other; where it was refused it is not tried again, and after a refusal nowhere
that it was not accepted before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal

from chaosk.core.errors import PreflightError
from chaosk.hosts.transport.ssh import terminal
from chaosk.spec.inventory import SecretRef
from chaosk.spec.secrets import Secret, resolve

Purpose = Literal["sudo password", "password"]


class NoPasswordError(Exception):
    """There is no password, or one that must not be tried here; the message says why and what to do."""


class Password:
    """The password of an account, on all hosts that refer to the same secret."""

    def __init__(self, purpose: Purpose, user: str, reference: SecretRef | None) -> None:
        """Take where it comes from; None to ask at the terminal."""
        self._purpose = purpose
        self._user = user
        self._reference = reference
        self._secret: Secret | None = None
        self._failed = ""
        self._proved = False
        self._refused: list[str] = []
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """Return where it comes from, for messages."""
        at = self._reference
        if at is None:
            return "typed at the terminal"
        if at.command is not None:
            return f"printed by {at.command[0]}"
        return f"the file {at.file}" if at.env is None else f"the environment variable {at.env}"

    def is_known(self, host: str) -> bool:
        """Return whether there is a password for a host; the first call may ask for it at the terminal."""
        with self._lock:
            try:
                self._read(host)
            except NoPasswordError:
                return False
            return True

    @contextmanager
    def offered(self, host: str) -> Iterator[Secret]:
        """Lend it for one attempt, whose outcome the caller tells; raises NoPasswordError."""
        with nullcontext() if self._proved else self._lock:
            if why := self._refusal(host):
                raise NoPasswordError(why)
            yield self._read(host)

    def accept(self) -> None:
        """Note that a host accepted it."""
        self._proved = True

    def refuse(self, host: str) -> NoPasswordError:
        """Note that a host refused it; return the error."""
        self._refused.append(host)
        return NoPasswordError(self._refusal(host))

    def _refusal(self, host: str) -> str:
        """Return why it must not be tried on a host; empty if it may."""
        if host in self._refused:
            return f"the {self._name} was refused; {self._hint}"
        if self._refused and not self._proved:
            return f"the {self._name} was refused by {self._refused[0]}, so it was not tried here; {self._hint}"
        return ""

    @property
    def _name(self) -> str:
        return f"{self._purpose} of {self._user} ({self.source})"

    @property
    def _hint(self) -> str:
        key = "ssh.sudo_password" if self._purpose == "sudo password" else "ssh.password"
        if self._reference is None:
            return f"start again and type it, or name {key} in the inventory"
        return f"correct it before you try again (wrong ones lock accounts), or give this host an {key} of its own"

    def _read(self, host: str) -> Secret:
        """Return it, once it was read or typed; raises NoPasswordError."""
        if self._secret is None and not self._failed:
            self._failed = self._find(host)
        if self._secret is None:
            raise NoPasswordError(self._failed)
        return self._secret

    def _find(self, host: str) -> str:
        """Read it or ask for it; return the reason for failure."""
        if self._reference is not None:
            try:
                self._secret = resolve(self._reference)
            except PreflightError as error:
                return f"the {self._purpose} of {self._user}: {error}"
            wrong = _not_one_line(self._secret.reveal())
            if wrong:
                self._secret = None
                return f"the {self._name} {wrong}; let it be the password alone"
            return ""
        if not terminal.is_there():
            return f"the {self._purpose} of {self._user} is not known, and there is no terminal; {self._hint}"
        typed = terminal.ask(f"{self._purpose} of {self._user} on {host}")
        if not typed.reveal():
            return f"the {self._purpose} of {self._user} was not typed; {self._hint}"
        self._secret = typed
        return ""


def _not_one_line(text: str) -> str:
    """Return what keeps a text from being typed as one line; a rest of it could reach what reads next."""
    if not text:
        return "is empty"
    return "is more than one line" if set(text) & set("\n\r\0") else ""


_KNOWN: dict[tuple[Purpose, str, SecretRef | None, str], Password] = {}
_LOCK = threading.Lock()


def password(purpose: Purpose, user: str, reference: SecretRef | None, *, at: str = "") -> Password:
    """Return a password of this process; ``at`` sets apart a server that must not get those of others."""
    with _LOCK:
        return _KNOWN.setdefault((purpose, user, reference, at), Password(purpose, user, reference))
