"""The token server before a run: one finding, whatever it says, and none where nobody needs a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_token_server import TokenServer, token_server
from sample_inventory import on_hosts

from chaosk.run.preflight import token_server as preflight
from chaosk.spec.inventory import Inventory, SecretRef


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A token server in plain text."""
    with token_server() as told:
        yield told


def by_token(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> Inventory:
    """A cluster whose clients log in by its tokens."""
    monkeypatch.setenv("TOKEN", "swordfish-4711")
    client = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": server.url, "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": SecretRef(env="TOKEN"),
    }  # fmt: skip
    return on_hosts("192.0.2.11").model_copy(update={"client": client})


def test_a_token_is_given(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is named, the token is not."""
    (told,) = preflight.token_server(by_token(server, monkeypatch))
    assert told.state == "ok"
    assert server.url in told.seen
    assert "token-1" not in told.seen


def test_a_wrong_secret(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One finding for all brokers, with what to correct and without the secret."""
    server.status, server.answer = 401, {"error": "invalid_client"}
    (told,) = preflight.token_server(by_token(server, monkeypatch))
    assert told.state == "bad"
    assert str(told) == (
        f"cluster: token: the token server {server.url} refuses the client 'me': invalid_client; "
        "correct client: sasl.oauthbearer.client.id and sasl.oauthbearer.client.secret, or that client there"
    )


def test_the_probes_are_another_client(server: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have a finding of their own."""
    own = by_token(server, monkeypatch).model_copy(update={"probe_client": {"sasl.oauthbearer.client.id": "probes"}})
    assert [told.what for told in preflight.token_server(own)] == ["token", "token of the probes"]
    assert len(server.asked) == 2


def test_other_logins_need_none() -> None:
    """Nobody is asked."""
    assert not list(preflight.token_server(on_hosts("192.0.2.11")))
