"""Logins at a broker by tokens: what it is told, and what is said when it, or the token server, refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fake_token_server import TokenServer, token_server

from chaosk.cluster import codes
from chaosk.cluster.login import Refused, log_in
from chaosk.cluster.oauthbearer import TokenEndpoint
from chaosk.cluster.security import Login
from chaosk.spec.secrets import Secret


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A token server in plain text."""
    with token_server() as told:
        yield told


def login(server: TokenServer, **endpoint: Any) -> Login:
    """A login by a token from there."""
    return Login("OAUTHBEARER", "me", Secret("x"), TokenEndpoint(server.url, **endpoint))


def broker(*answers: Any, heard: list[bytes]) -> Callable[[Any], Any]:
    """A broker that knows the mechanism, and answers what clients say in turn."""
    left = iter(answers)

    def ask(request: Any) -> Any:
        if request.name == "SaslHandshakeRequest":
            return SimpleNamespace(error_code=0, mechanisms=["OAUTHBEARER"])
        heard.append(request.auth_bytes)
        return next(left)

    return ask


ACCEPTED = SimpleNamespace(error_code=0, error_message=None, auth_bytes=b"", session_lifetime_ms=30_000)


def test_a_broker_gets_the_token_and_its_extensions(server: TokenServer) -> None:
    """As RFC 7628 has it; the login lasts as long as the broker says."""
    heard: list[bytes] = []
    how = login(server, extensions=(("logicalCluster", "lkc-1"),))
    assert log_in(broker(ACCEPTED, heard=heard), how, lambda: 20.0) == 30.0
    assert heard == [b"n,,\x01auth=Bearer token-1\x01logicalCluster=lkc-1\x01\x01"]


def test_a_token_that_the_broker_refuses(server: TokenServer) -> None:
    """Its own words and the settings to compare; the next login comes with another token."""
    doubts = SimpleNamespace(error_code=0, error_message=None, auth_bytes=b'{"status":"invalid_token"}')
    ends = SimpleNamespace(error_code=58, error_message='{"status":"invalid_token"}', auth_bytes=b"")
    heard: list[bytes] = []
    with pytest.raises(Refused, match=r"refuses the login of 'me' by OAUTHBEARER: .*invalid_token") as caught:
        log_in(broker(doubts, ends, heard=heard), login(server), lambda: 20.0)
    assert heard[1] == b"\x01"
    assert "issuer, audience, scope" in caught.value.todo
    server.answer = {"access_token": "token-2", "expires_in": 60}
    log_in(broker(ACCEPTED, heard=heard), login(server), lambda: 20.0)
    assert b"token-2" in heard[-1]


def test_no_token(server: TokenServer) -> None:
    """The broker is told nothing, and the token server is named."""
    server.status, server.answer = 401, {"error": "invalid_client"}
    heard: list[bytes] = []
    with pytest.raises(
        Refused, match=r"no token to log in with: the token server .* refuses the client 'me'"
    ) as caught:
        log_in(broker(heard=heard), login(server), lambda: 20.0)
    assert not heard
    assert "sasl.oauthbearer.client.secret" in caught.value.todo


def test_a_broker_without_the_mechanism(server: TokenServer) -> None:
    """It says what it takes, and nobody asks for a token."""
    answer = SimpleNamespace(error_code=codes.UNSUPPORTED_SASL_MECHANISM, mechanisms=["PLAIN"])
    with pytest.raises(Refused, match="takes no login by OAUTHBEARER, only by PLAIN"):
        log_in(lambda _request: answer, login(server), lambda: 20.0)
    assert not server.asked
