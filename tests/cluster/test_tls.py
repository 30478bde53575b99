"""A link to a broker behind TLS: whom it trusts, and what it says of whom it does not. Real handshakes on loopback."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_servers import mock_cluster, server, silent
from fake_tls import behind_tls, serving

from chaosk.cluster.security import security
from chaosk.cluster.views import metadata_request, view
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer
from chaosk.lab import certificates
from chaosk.lab.certificates import Pair

BY = certificates.authority("the authority of these tests")
HERE = "127.0.0.1"


def trusting(folder: Path, **more: object) -> dict[str, Any]:
    """The client settings of who trusts the authority of these tests."""
    file = folder / "ca.pem"
    file.write_text(BY.certificate)
    settings = {"security.protocol": "SSL", "ssl.ca.location": str(file)}
    return {**settings, **{name.replace("_", "."): value for name, value in more.items()}}


@contextmanager
def broker(context: ssl.SSLContext, settings: dict[str, Any]) -> Iterator[Endpoint]:
    """A broker of librdkafka's mock cluster whose door is TLS, for who goes by these settings."""
    with mock_cluster(1) as (_, places), behind_tls(context, places[1]) as door:
        yield replace(door, security=security(settings))


def test_a_broker_behind_tls_answers(tmp_path: Path) -> None:
    """With the authority that signed its certificate; a second question goes over the same connection."""
    context = serving(tmp_path, certificates.issue(BY, HERE))
    with broker(context, trusting(tmp_path)) as place, BrokerConnection(place, timeout=20.0) as link:
        assert view(1, link.ask(metadata_request(()))[0]).alive == (1,)
        assert view(1, link.ask(metadata_request(()), metadata_request(()))[1]).alive == (1,)


@pytest.mark.parametrize(
    ("pair", "why", "todo"),
    [
        (certificates.issue(certificates.authority("another"), HERE), "unable to get local issuer", "ssl.ca.location"),
        (certificates.issue(certificates.authority("the authority of these tests"), HERE), "", "ssl.ca.location"),
        (certificates.issue(BY, "192.0.2.1"), "IP address mismatch", "an address there that it covers"),
        (certificates.issue(BY, HERE, until=datetime.now(UTC) - timedelta(hours=1)), "has expired", "renew"),
        (certificates.authority("nobody's"), "self-signed certificate", "ssl.ca.location"),
    ],
    ids=["another authority", "one of the same name", "another address", "expired", "signed by itself"],
)
def test_who_is_not_trusted(tmp_path: Path, pair: Pair, why: str, todo: str) -> None:
    """Why its certificate is not accepted, which broker it is, and what to do about it."""
    with broker(serving(tmp_path, pair), trusting(tmp_path)) as place, BrokerConnection(place, timeout=20.0) as link:
        with pytest.raises(NoAnswer, match=f"its certificate is not accepted: .*{why}") as caught:
            link.ask(metadata_request(()))
        assert str(place) in str(caught.value)
        assert todo in str(caught.value.todo)
        assert not link.connected


@pytest.mark.parametrize(
    "settings",
    [{"ssl_endpoint_identification_algorithm": "none"}, {"enable_ssl_certificate_verification": "false"}],
    ids=["any address", "anybody"],
)
def test_who_asks_for_less_gets_less(tmp_path: Path, settings: dict[str, object]) -> None:
    """As with librdkafka, the address or the whole certificate may be left unlooked at."""
    context = serving(tmp_path, certificates.issue(BY, "192.0.2.1"))
    with broker(context, trusting(tmp_path, **settings)) as place, BrokerConnection(place, timeout=20.0) as link:
        assert link.ask(metadata_request(()))


def test_a_client_with_a_certificate(tmp_path: Path) -> None:
    """A listener that wants one lets in who has it, and who has none learns that it is wanted."""
    own = certificates.issue(BY, HERE)
    context = serving(tmp_path, certificates.issue(BY, HERE))
    context.load_verify_locations(cadata=BY.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    for name, text in (("client.pem", own.certificate), ("client.key", own.key)):
        (tmp_path / name).write_text(text)
    ours = {"ssl_certificate_location": tmp_path / "client.pem", "ssl_key_location": tmp_path / "client.key"}
    with broker(context, trusting(tmp_path, **ours)) as place, BrokerConnection(place, timeout=20.0) as link:
        assert link.ask(metadata_request(()))
    with broker(context, trusting(tmp_path)) as place, BrokerConnection(place, timeout=20.0) as link:
        with pytest.raises(
            NoAnswer, match=r"certificate required|closed from there|the connection was closed"
        ) as caught:
            link.ask(metadata_request(()))
        assert "certificate of its clients" in str(caught.value.todo)


def test_one_that_speaks_no_tls(tmp_path: Path) -> None:
    """A listener in the clear takes the handshake for a request; the connection is over, not the program."""
    with mock_cluster(1) as (_, places):
        place = replace(places[1], security=security(trusting(tmp_path)))
        with BrokerConnection(place, timeout=2.0) as link, pytest.raises(NoAnswer) as caught:
            link.ask(metadata_request(()))
    assert str(place) in str(caught.value)


def test_a_handshake_that_hangs_ends_in_time(tmp_path: Path) -> None:
    """A frozen broker's kernel still accepts: the time for one question is the time for the handshake, too."""
    with server(silent) as door:
        place = replace(door, security=security(trusting(tmp_path)))
        with BrokerConnection(place, timeout=0.3) as link, pytest.raises(NoAnswer, match=r"no answer within 0\.3 s"):
            link.ask(metadata_request(()))
