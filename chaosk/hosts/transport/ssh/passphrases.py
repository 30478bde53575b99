"""Passphrases of private keys: each asked for once in a process, and kept in its memory only."""

from __future__ import annotations

import threading
from pathlib import Path

from chaosk.hosts.transport.ssh import terminal
from chaosk.spec.inventory import SecretRef
from chaosk.spec.secrets import Secret, resolve

_LOCK = threading.Lock()
_KNOWN: dict[Path, Secret] = {}
_REFUSED: set[Path] = set()


class NoPassphraseError(Exception):
    """A key is encrypted, and nobody has given its passphrase."""


def passphrase(key: Path, reference: SecretRef | None, *, wrong: Secret | None) -> Secret:
    """Return the passphrase of a key: as it was given before, from its reference, or typed at the terminal.

    ``wrong``: the one that did not open it. Raises NoPassphraseError, and PreflightError for a reference that leads
    nowhere.
    """
    with _LOCK:
        known = _KNOWN.get(key)
        if known is not None and known != wrong:
            return known
        referred = None if reference is None else resolve(reference)
        if referred is not None and referred != wrong and known is None:
            _KNOWN[key] = referred
            return referred
        if key in _REFUSED or not terminal.is_there():
            why = "" if wrong is None else ", and the one that was given does not open it"
            raise NoPassphraseError(f"it needs a passphrase{why}")
        typed = terminal.ask(f"passphrase of {key}")
        if not typed.reveal():
            _REFUSED.add(key)
            raise NoPassphraseError("it needs a passphrase, and none was typed")
        _KNOWN[key] = typed
        return typed
