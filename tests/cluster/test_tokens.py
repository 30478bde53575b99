"""Tokens: how a server is asked for them, how long they are kept, and what is said where there is none."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from fake_servers import unused_port
from fake_tls import serving
from fake_token_server import TokenServer, token_server

from chaosk.cluster import tokens
from chaosk.cluster.oauthbearer import TokenEndpoint
from chaosk.cluster.security import Login
from chaosk.cluster.tokens import NoToken, Token, Tokens
from chaosk.lab import certificates
from chaosk.spec.secrets import Secret

SECRET = "swordfish-4711"  # noqa: S105 - of a client that is nobody's


@pytest.fixture
def server() -> Iterator[TokenServer]:
    """A token server in plain text."""
    with token_server() as told:
        yield told


def login(url: str, **endpoint: Any) -> Login:
    """A login by a token from there."""
    return Login("OAUTHBEARER", "me", Secret(SECRET), TokenEndpoint(url, **endpoint))


def refusal(of: Login) -> NoToken:
    """What is said when there is no token; the secret is in none of it."""
    with pytest.raises(NoToken) as caught:
        tokens.asked(of)
    assert SECRET not in f"{caught.value}{caught.value.todo}"
    return caught.value


def test_client_credentials(server: TokenServer) -> None:
    """The client is named in the header, as librdkafka does; the scope is asked for if there is one."""
    assert tokens.asked(login(server.url)) == Token("token-1", 60.0)
    tokens.asked(login(server.url, scope="kafka audit"))
    (header, body), (_, scoped) = server.asked
    assert header == "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert parse_qs(body) == {"grant_type": ["client_credentials"]}
    assert parse_qs(scoped) == {"grant_type": ["client_credentials"], "scope": ["kafka audit"]}


def test_a_wrong_secret(server: TokenServer) -> None:
    """The server's own word, the client, and the settings to correct."""
    server.status, server.answer = 401, {"error": "invalid_client", "error_description": "Invalid credentials"}
    said = refusal(login(server.url))
    assert str(said) == (f"the token server {server.url} refuses the client 'me': invalid_client: Invalid credentials")
    assert "sasl.oauthbearer.client.secret" in said.todo


@pytest.mark.parametrize(
    ("status", "answer", "says"),
    [
        (503, {}, "answers with HTTP 503"),
        (404, b"<html>", "answers with HTTP 404"),
        (302, b"", "answers without a token"),
        (200, b"<html>", "answers without a token"),
        (200, {"token_type": "Bearer"}, "answers without a token"),
        (200, [], "answers without a token"),
        (200, {"access_token": "x", "expires_in": "soon"}, "answers without a token"),
    ],
)
def test_an_answer_that_is_no_token(server: TokenServer, status: int, answer: object, says: str) -> None:
    """Whatever is there instead: one line with the address."""
    server.status, server.answer = status, answer
    said = refusal(login(server.url))
    assert says in str(said)
    assert server.url in str(said)
    assert "sasl.oauthbearer.token.endpoint.url" in said.todo


def test_nobody_is_there() -> None:
    """A refused connection is told as that, without the layers that wrap it."""
    url = f"http://127.0.0.1:{unused_port()}/token"
    assert str(refusal(login(url))) == f"the token server {url} cannot be reached: connection refused"


def test_a_secret_that_no_header_takes(server: TokenServer) -> None:
    """Characters that Basic authentication has not: refused, and not quoted."""
    with pytest.raises(NoToken) as caught:
        tokens.asked(replace(login(server.url), password=Secret("\N{SNOWMAN}")))
    assert "\N{SNOWMAN}" not in str(caught.value)


def test_whom_it_trusts(tmp_path: Path) -> None:
    """The named authority alone; without one the machine's own, which has not signed this server's certificate."""
    by = certificates.authority("one")
    (tmp_path / "ca.pem").write_text(by.certificate)
    with token_server(serving(tmp_path, certificates.issue(by, "127.0.0.1"))) as server:
        assert tokens.asked(login(server.url, ca=str(tmp_path / "ca.pem"))).text == "token-1"
        said = refusal(login(server.url))
    assert "unable to get local issuer certificate" in str(said)
    assert said.todo == "correct client: https.ca.location"


class Source:
    """A server in memory, its clock and its answers."""

    def __init__(self) -> None:
        self.now, self.count, self.lifetime = 0.0, 0, 100.0
        self.gate = threading.Event()
        self.gate.set()
        self.refuses = False
        self.tokens = Tokens(self._asked, lambda: self.now)

    def _asked(self) -> Token:
        self.gate.wait(20)
        self.count += 1
        if self.refuses:
            raise NoToken("no", "do")
        return Token(f"token-{self.count}", self.lifetime)


def test_kept_until_most_of_its_life_is_over() -> None:
    """All connections use one token; the next is asked for before the first one expires."""
    source = Source()
    assert [source.tokens.current(20) for _ in range(3)] == ["token-1"] * 3
    source.now = 79.0
    assert source.tokens.current(20) == "token-1"
    source.now = 81.0
    assert source.tokens.current(20) == "token-2"


def test_one_whose_life_is_not_told_is_used_once() -> None:
    """Each login asks anew."""
    source = Source()
    source.lifetime = 0.0
    assert [source.tokens.current(20) for _ in range(2)] == ["token-1", "token-2"]


def test_the_old_one_serves_while_the_server_is_away() -> None:
    """Until it expires; then the reason is told, and the server is left in peace for some seconds."""
    source = Source()
    source.tokens.current(20)
    source.refuses, source.now = True, 90.0
    assert source.tokens.current(20) == "token-1"
    assert source.count == 2
    source.now = 94.0
    assert source.tokens.current(20) == "token-1"
    assert source.count == 2
    source.now = 101.0
    for _ in range(2):
        with pytest.raises(NoToken, match="no"):
            source.tokens.current(20)
    assert source.count == 3
    source.refuses, source.now = False, 107.0
    assert source.tokens.current(20) == "token-4"


def test_a_slow_server_costs_no_more_than_there_is() -> None:
    """Several wait for the same answer, each as long as it can; the answer is there for the next one."""
    source = Source()
    source.gate.clear()
    began = time.monotonic()
    for _ in range(3):
        with pytest.raises(NoToken, match="has not answered yet"):
            source.tokens.current(0.05)
    assert time.monotonic() - began < 10
    source.gate.set()
    assert source.tokens.current(20) == "token-1"
    assert source.count == 1


def test_a_token_that_a_broker_refused_is_dropped() -> None:
    """The server's keys may be new; another that came meanwhile stays."""
    source = Source()
    source.tokens.forget("another")
    assert source.tokens.current(20) == "token-1"
    source.tokens.forget("token-1")
    assert source.tokens.current(20) == "token-2"
    source.tokens.forget("token-1")
    assert source.tokens.current(20) == "token-2"


def test_all_connections_of_a_login_share_its_tokens() -> None:
    """By what the login is, not by which object says it."""
    assert tokens.of(login("http://a/t")) is tokens.of(login("http://a/t"))
    assert tokens.of(login("http://a/t")) is not tokens.of(login("http://b/t"))
