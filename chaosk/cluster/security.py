"""Security of connections to brokers: plain text or TLS, and the login. From librdkafka's settings; no network.

Probes connect through librdkafka, everything else through :mod:`chaosk.cluster.wire`. Both follow the inventory's
``client:``. Settings that the second does not support are refused here, before a run in which only half of chaosk sees
the cluster.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosk.cluster import oauthbearer
from chaosk.cluster.oauthbearer import TokenEndpoint
from chaosk.core.errors import PreflightError
from chaosk.spec.secrets import Secret

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
"""Supported login mechanisms."""
_WHY_NOT = {
    "GSSAPI": ": librdkafka is built without Kerberos in the packages of confluent-kafka that pip installs",
    "AWS_MSK_IAM": ": librdkafka does not know it",
}

PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
"""Values of ``security.protocol``."""
INSTEAD = {
    "ssl.certificate.pem": "name its file with ssl.certificate.location",
    "ssl.key.pem": "name its file with ssl.key.location",
    "ssl.keystore.location": "write key and certificate as PEM files, ssl.key.location and ssl.certificate.location",
    "ssl.crl.location": "leave it out",
    "ssl.engine.location": "write key and certificate as PEM files, ssl.key.location and ssl.certificate.location",
    "ssl.providers": "leave it out",
    "https.ca.pem": "name its file with https.ca.location",
}
"""Settings that only librdkafka supports, with the remedy."""


@dataclass(frozen=True, slots=True)
class Login:
    """The user of a login, and its mechanism."""

    mechanism: str
    """One of :data:`MECHANISMS`."""
    user: str
    """The user; with OAUTHBEARER the client's id."""
    password: Secret
    """The password; with OAUTHBEARER the client's secret."""
    endpoint: TokenEndpoint | None = None
    """With OAUTHBEARER, where the client gets its tokens."""


@dataclass(frozen=True, slots=True)
class Security:
    """The security of a connection."""

    tls: ssl.SSLContext | None = None
    """TLS settings; None for plain text."""
    login: Login | None = None
    """The login; None if brokers require none."""


def only_by(mechanism: str) -> str:
    """Return the sentence that refuses a mechanism, without the remedy."""
    return f"chaosk cannot log in by {mechanism}, only by {', '.join(MECHANISMS)}{_WHY_NOT.get(mechanism, '')}"


CLEAR = Security()
"""No TLS, no login."""


def security(settings: Mapping[str, Any]) -> Security:
    """Build the connection security from librdkafka's ``settings`` (secrets resolved).

    Raises PreflightError for an unusable file, and for settings that chaosk's own connections do not support.
    """
    protocol = str(settings.get("security.protocol", "plaintext")).lower()
    if protocol not in PROTOCOLS:
        raise PreflightError(f"client.security.protocol: {protocol}: there is no such; write {', '.join(PROTOCOLS)}")
    return Security(
        tls=_context(settings) if protocol.endswith("ssl") else None,
        login=_login(settings) if protocol.startswith("sasl") else None,
    )


def _login(settings: Mapping[str, Any]) -> Login:
    mechanism = str(settings.get("sasl.mechanism", settings.get("sasl.mechanisms", "GSSAPI"))).upper()
    if mechanism not in MECHANISMS:
        raise PreflightError(
            f"client.sasl.mechanism: {only_by(mechanism)}; "
            "give the inventory a listener for clients that takes one of them"
        )
    if mechanism == "OAUTHBEARER":
        return _by_token(settings)
    for name in ("sasl.username", "sasl.password"):
        if not settings.get(name):
            raise PreflightError(f"client.{name}: {mechanism} needs it, and the inventory has none; write it there")
    return Login(mechanism, str(settings["sasl.username"]), Secret(str(settings["sasl.password"])))


def _by_token(settings: Mapping[str, Any]) -> Login:
    for name, says in oauthbearer.mistakes(settings):
        raise PreflightError(f"client.{name}: {says}")
    _supported(settings, "https.")
    given, place = oauthbearer.canonical(settings), oauthbearer.endpoint(settings)
    if place.ca is not None:
        with _blamed(oauthbearer.CA, "the authority's certificate as PEM, or a folder of such"):
            _trusting(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), place.ca)
    secret = Secret(str(given[oauthbearer.CLIENT_SECRET]))
    return Login("OAUTHBEARER", str(given[oauthbearer.CLIENT_ID]), secret, place)


def _supported(settings: Mapping[str, Any], prefix: str) -> None:
    for name, instead in INSTEAD.items():
        if name.startswith(prefix) and settings.get(name):
            raise PreflightError(f"client.{name}: chaosk's own connections to brokers cannot use it; {instead}")


def _context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    _supported(settings, "ssl.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # Python's default, which Debian's build leaves to OpenSSL
    context.check_hostname = str(settings.get("ssl.endpoint.identification.algorithm", "https")).lower() == "https"
    if str(settings.get("enable.ssl.certificate.verification", "true")).lower() in {"false", "f", "0"}:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    _trust(context, settings)
    _identify(context, settings)
    return context


def _trust(context: ssl.SSLContext, settings: Mapping[str, Any]) -> None:
    location, text = settings.get("ssl.ca.location"), settings.get("ssl.ca.pem")
    if text:
        with _blamed("ssl.ca.pem", "the authority's certificate as PEM"):
            context.load_verify_locations(cadata=str(text))
    elif location and location != "probe":
        with _blamed("ssl.ca.location", "the authority's certificate as PEM, or a folder of such"):
            _trusting(context, str(location))
    else:
        context.load_default_certs()


def _trusting(context: ssl.SSLContext, location: str) -> None:
    context.load_verify_locations(**{"capath" if Path(location).is_dir() else "cafile": location})


def _identify(context: ssl.SSLContext, settings: Mapping[str, Any]) -> None:
    certificate, key = settings.get("ssl.certificate.location"), settings.get("ssl.key.location")
    if not (certificate and key):
        return
    password = settings.get("ssl.key.password")
    with _blamed("ssl.certificate.location", "PEM files, the key its own, and ssl.key.password that of the key"):
        # a callable: without one OpenSSL asks at the terminal for the password of an encrypted key
        context.load_cert_chain(str(certificate), str(key), lambda: "" if password is None else str(password))


@contextmanager
def _blamed(name: str, wanted: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PreflightError(f"client.{name}: cannot be used: {why}; it should name {wanted}") from None
