"""The token server of chaosk's logins, asked before the brokers: each of them would have the same finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chaosk.cluster import tokens
from chaosk.cluster.client_settings import client_settings, probe_settings
from chaosk.cluster.security import security
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.inventory import Inventory

_WITHIN = 20.0
"""Seconds until it must have answered: it may be slow once, when it has to wake up."""


def token_server(inventory: Inventory) -> Iterator[Diagnostic]:
    """Yield whether it gives tokens to chaosk and to the probes; nothing for other logins.

    Raises PreflightError for unusable settings.
    """
    yield from _asked("token", client_settings(inventory))
    if inventory.probe_client:
        yield from _asked("token of the probes", probe_settings(inventory))


def _asked(what: str, settings: Mapping[str, Any]) -> Iterator[Diagnostic]:
    login = security(settings).login
    if login is None or login.endpoint is None:
        return
    try:
        tokens.of(login).current(_WITHIN)
    except tokens.NoToken as error:
        yield bad("cluster", what, str(error), error.todo)
    else:
        yield ok("cluster", what, f"the token server {login.endpoint.url} gives one")
