"""Secrets in files: which settings hold one, and where a reference is right."""

from __future__ import annotations

import pytest

from chaosk.document.nodes import spell
from chaosk.document.parse import parse
from chaosk.document.secrets import plain_secrets

HOLD_A_SECRET = (
    "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "sasl.oauthbearer.client.secret",
    "SASL.PASSWORD", "ssl_key_password", "token", "sasl.oauthbearer.assertion.private.key.passphrase",
)  # fmt: skip
HOLD_NONE = ("sasl.username", "ssl.ca.location", "ssl.key.location", "sasl.mechanism", "security.protocol", "client.id")


def secrets(text: str) -> list[str]:
    """The paths of the secrets in a document."""
    root, found = parse(text.encode())
    assert root is not None
    assert not found
    return [spell(path) for _, path, _ in plain_secrets(root)]


@pytest.mark.parametrize("setting", HOLD_A_SECRET)
def test_settings_that_hold_a_secret(setting: str) -> None:
    """As text they are refused, in an inventory and in a probe's settings; as a reference they are right."""
    assert secrets(f"client: {{{setting}: hunter2}}") == [f"client.{setting}"]
    assert secrets(f"client: {{{setting}: 12345}}") == [f"client.{setting}"]
    assert secrets(f"probe_client: {{{setting}: hunter2}}") == [f"probe_client.{setting}"]
    probe = f"probes.writer.produce.config.{setting}"
    assert secrets(f"probes: {{writer: {{produce: {{config: {{{setting}: hunter2}}}}}}}}") == [probe]
    assert secrets(f"client: {{{setting}: {{env: NAME}}}}") == []


@pytest.mark.parametrize("setting", HOLD_NONE)
def test_settings_that_hold_none(setting: str) -> None:
    """Names and places are no secrets."""
    assert secrets(f"client: {{{setting}: hunter2}}") == []


def test_only_settings_of_clients_are_looked_at() -> None:
    """A topic may be called what it likes."""
    assert secrets("topics: {password: {config: {a: b}}}\nhypothesis: my password\n") == []


def test_where_to_put_it() -> None:
    """In a scenario the advice is the inventory, in an inventory the reference."""
    root, _ = parse(b"probes: {w: {produce: {config: {sasl.password: x}}}}\nclient: {sasl.password: x}\n")
    assert root is not None
    probe, client = (what for _, _, what in plain_secrets(root))
    assert "put it into the inventory's `client:`" in probe
    assert "write a reference: {env: NAME} or {file: PATH}" in client
