"""The health check against sockets that accept, refuse, hang, or answer nonsense, and against librdkafka's brokers."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_servers import mock_cluster
from fake_tls import behind_tls, serving
from probes.conftest import Working
from pydantic import ValidationError

from chaosk.core.errors import PreflightError, UsageError
from chaosk.lab import certificates
from chaosk.probes import _health_check_loop
from chaosk.probes.health_check import HealthCheck
from chaosk.spec.contracts.probe import Address

Work = Callable[..., Working]


def health(**fields: Any) -> HealthCheck:
    """A health check from its YAML fields."""
    return HealthCheck.model_validate(fields)


@contextmanager
def listening(then: Callable[[socket.socket], None] | None = None) -> Iterator[Address]:
    """A server that does ``then`` to each connection and closes it; without ``then`` nobody accepts them."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        if then is not None:
            threading.Thread(target=_accept, args=(server, then), daemon=True).start()
        yield server.getsockname()


def _accept(server: socket.socket, then: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            then(connection)


@contextmanager
def refusing() -> Iterator[Address]:
    """A port that nobody else gets and nobody listens at."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()


@contextmanager
def hanging() -> Iterator[Address]:
    """A server whose queue is full: what connects now hangs, as behind a firewall that drops."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, socket.socket() as first, socket.socket() as more:
        for each in (first, more):
            each.settimeout(0)
            each.connect_ex(server.getsockname())
        yield server.getsockname()


def said(connection: socket.socket, answer: bytes) -> None:
    """Answer whatever is asked with these bytes."""
    connection.recv(1000)
    connection.sendall(answer)


def test_a_listener_is_healthy_and_sees_connections_that_come_and_go(work: Work) -> None:
    """Each check is a connection of its own that is closed without a byte; its times are in order, none is missing."""
    heard: list[bytes] = []
    with listening(lambda connection: heard.append(connection.recv(1))) as place:
        working = work(health(rate="50/s"), brokers={3: place})
        working.until(lambda state: state.ok >= 40)
        working.end()
        with socket.create_connection(place) as last:  # they are accepted in order: once it is closed, all were heard
            last.sendall(b"!")
            last.recv(1)
    rows = working.rows("health_checks")
    assert heard.pop() == b"!"
    assert set(heard) == {b""}
    assert len(heard) == len(rows) == working.rows("ends")[0]["scheduled"] == working.rows("ends")[0]["rows"]
    assert {(row["broker"], row["outcome"], row["error"], row["answered"]) for row in rows} == {(3, "ok", None, None)}
    assert all(row["due"] <= row["began"] <= row["connected"] <= row["closed"] for row in rows)
    start = working.rows("incarnations")[0]["started"]
    assert [row["due"] for row in sorted(rows, key=lambda row: row["due"])] == [
        start + number * 20_000_000 for number in range(len(rows))
    ]


def test_a_port_without_a_listener_is_told_at_once(work: Work) -> None:
    """Refused is not hung: the error is the system's, long before the time-out."""
    with refusing() as place:
        working = work(health(rate="20/s", timeout="30s"), brokers={0: place})
        working.until(lambda state: state.fail >= 5)
        working.end()
    rows = working.rows("health_checks")
    assert {(row["outcome"], row["error"], row["connected"]) for row in rows} == {("fail", "ECONNREFUSED", None)}
    assert min(row["closed"] - row["due"] for row in rows) < 10e9
    assert working.states[-1].last_error == "ECONNREFUSED"


def test_one_that_hangs_is_given_up_and_holds_up_nobody(work: Work) -> None:
    """A broker that drops everything costs its own checks their time-out, and the other broker's checks nothing."""
    with hanging() as silent, listening(lambda connection: None) as sound:
        working = work(health(rate="20/s", timeout="500ms"), brokers={0: silent, 1: sound})
        working.until(lambda state: state.fail >= 10 and state.ok >= 10)
        working.end()
    rows = working.rows("health_checks")
    mine = [row for row in rows if row["broker"] == 0]
    assert {(row["outcome"], row["error"], row["connected"]) for row in mine} == {("fail", "TIMEOUT", None)}
    assert all(row["closed"] - row["began"] >= 500_000_000 for row in mine)
    assert {row["outcome"] for row in rows if row["broker"] == 1} == {"ok"}
    assert len(mine) == pytest.approx(len(rows) / 2, abs=1)


def test_hanging_connections_are_bounded_and_what_had_no_turn_says_so(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than so many at once; a check that got no turn accuses nobody, and none is missing."""
    monkeypatch.setattr(_health_check_loop, "AT_ONCE", 3)
    with hanging() as place:
        working = work(health(rate="50/s", timeout="400ms"), brokers={0: place})
        working.until(lambda state: state.info >= 10)
        working.end()
    rows = working.rows("health_checks")
    assert len(rows) == working.rows("ends")[0]["scheduled"]
    assert Counter(row["outcome"] for row in rows).keys() == {"fail", "info"}
    assert {(row["error"], row["began"]) for row in rows if row["outcome"] == "info"} == {("NO_TURN", None)}
    tried = [row for row in rows if row["began"] is not None]
    moments = sorted([(row["began"], 1) for row in tried] + [(row["closed"], -1) for row in tried])
    under_way, most = 0, 0
    for _, change in moments:
        under_way += change
        most = max(most, under_way)
    assert most == 3


def test_brokers_that_are_asked_answer(work: Work, mock_cluster: str) -> None:
    """With api_versions each check ends with the broker's own answer."""
    places = [each.rpartition(":") for each in mock_cluster.split(",")]
    brokers = {number: (host, int(port)) for number, (host, _, port) in enumerate(places, 1)}
    working = work(health(rate="10/s", exchange="api_versions", brokers=[3, 1]), brokers=brokers)
    working.until(lambda state: state.ok >= 10)
    working.end()
    rows = working.rows("health_checks")
    assert {(row["broker"], row["outcome"]) for row in rows} == {(1, "ok"), (3, "ok")}
    assert all(row["connected"] <= row["answered"] <= row["closed"] for row in rows)


@pytest.mark.parametrize(
    ("then", "error"),
    [
        (lambda connection: connection.recv(1000), "CLOSED"),
        (lambda connection: said(connection, b"HTTP/1.1 400 Bad Request\r\n\r\n"), "NOT_KAFKA"),
        (lambda connection: said(connection, b"\0\0\0\x04\0\0\0\x63"), "NOT_KAFKA"),
        (lambda connection: said(connection, b"\0\0\0\x06\0\0\0\x01\0\x23"), "NOT_KAFKA"),
    ],
    ids=["closes", "web server", "another's answer", "cut short"],
)
def test_what_accepts_but_is_no_broker_is_not_healthy(
    work: Work, then: Callable[[socket.socket], None], error: str
) -> None:
    """A connection alone would have been health enough; whoever asks learns better."""
    with listening(then) as place:
        working = work(health(rate="20/s", exchange="api_versions"), brokers={0: place})
        working.until(lambda state: state.fail >= 3)
        working.end()
    assert {(row["outcome"], row["error"], row["answered"]) for row in working.rows("health_checks")} == {
        ("fail", error, None)
    }


def test_one_that_accepts_and_never_answers_hangs_only_where_it_is_asked(work: Work) -> None:
    """A frozen broker's kernel still accepts: a bare connection calls it healthy, a question does not."""
    with listening() as place:
        asking = work(health(rate="10/s", timeout="300ms", exchange="api_versions"), "asking", brokers={0: place})
        bare = work(health(rate="10/s", timeout="300ms"), "bare", brokers={0: place})
        asking.until(lambda state: state.fail >= 3)
        bare.until(lambda state: state.ok >= 3)
        asking.end()
        bare.end()
    hung = asking.rows("health_checks")
    assert {(row["outcome"], row["error"]) for row in hung} == {("fail", "TIMEOUT")}
    assert any(row["connected"] is not None for row in hung)
    assert {row["outcome"] for row in bare.rows("health_checks")} == {"ok"}


def test_where_clients_use_tls_it_asks_by_tls(work: Work, tmp_path: Path) -> None:
    """The one that has the certificate of its address answers; another's is no health, nor is a server in the clear."""
    by = certificates.authority("these tests")
    (tmp_path / "ca.pem").write_text(by.certificate)
    client = {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "ca.pem")}
    with (
        mock_cluster(1) as (_, brokers),
        behind_tls(serving(tmp_path, certificates.issue(by, "127.0.0.1")), brokers[1]) as good,
        behind_tls(serving(tmp_path, certificates.issue(by, "192.0.2.1")), brokers[1]) as others,
    ):
        places = {number: (at.address, at.port) for number, at in enumerate((good, others, brokers[1]))}
        working = work(health(rate="10/s", exchange="api_versions"), brokers=places, **client)
        working.until(lambda state: state.ok >= 5 and state.fail >= 10)
        working.end()
    found = Counter((row["broker"], row["outcome"]) for row in working.rows("health_checks"))
    assert {outcome for broker, outcome in found if broker == 0} == {"ok"}
    assert {outcome for broker, outcome in found if broker > 0} == {"fail"}
    errors = {(row["broker"], row["error"]) for row in working.rows("health_checks") if row["broker"] == 1}
    assert errors == {(1, "NO_TLS")}


@pytest.mark.parametrize(
    ("fields", "client", "brokers", "complaint"),
    [
        ({"brokers": [7]}, {}, {0: ("127.0.0.1", 1), 1: ("127.0.0.1", 2)}, "no broker 7 .* it has 0, 1"),
        ({}, {}, {}, "no broker that clients connect to; it has none"),
        ({}, {}, {0: ("nowhere.invalid", 1)}, "nowhere.invalid of broker 0 cannot be resolved"),
    ],
)
def test_what_cannot_be_checked_is_refused_before_the_first_check(
    work: Work, fields: dict[str, Any], client: dict[str, Any], brokers: dict[int, Address], complaint: str
) -> None:
    """One clear error that names the probe, and no row."""
    working = work(health(**fields), "health", brokers=brokers, **client)
    with pytest.raises((UsageError, PreflightError), match=f"health: .*{complaint}"):
        working.end()
    assert working.rows("health_checks") == []
    working.forget()


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"rate": "0/s"}, "checks nothing"),
        ({"rate": "401/s"}, "use up this machine's ports; write 400/s"),
        ({"timeout": "1m"}, "less than or equal to 30"),
        ({"brokers": []}, "at least 1"),
        ({"exchange": "http"}, "'none' or 'api_versions'"),
    ],
)
def test_fields_that_make_no_sense_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """Each with what to write instead."""
    with pytest.raises(ValidationError, match=complaint):
        health(**fields)
