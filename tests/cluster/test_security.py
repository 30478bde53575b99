"""What client settings ask of chaosk's own connections, and what is refused because it could not follow."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from chaosk.cluster.oauthbearer import TokenEndpoint
from chaosk.cluster.security import CLEAR, security
from chaosk.core.errors import PreflightError
from chaosk.lab import certificates

SCRAM = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "me", "sasl.password": "swordfish"}
TOKEN = {
    "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": "swordfish", "sasl.oauthbearer.token.endpoint.url": "https://login.example.net/t",
}  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"security.protocol": "PLAINTEXT"}, {"security.protocol": "plaintext"}])
def test_in_the_clear(settings: dict[str, str]) -> None:
    """Which is librdkafka's own default; it reads protocols in any case, and so do we."""
    assert security(settings) == CLEAR


def test_a_login_without_tls() -> None:
    """Mechanism, user and password, the password hidden from whoever prints it."""
    found = security({"security.protocol": "sasl_plaintext", **SCRAM})
    assert found.tls is None
    assert found.login is not None
    assert (found.login.mechanism, found.login.user, found.login.password.reveal()) == (
        "SCRAM-SHA-512", "me", "swordfish",
    )  # fmt: skip
    assert "swordfish" not in repr(found)


def test_a_login_by_a_token() -> None:
    """Client, secret and where the token comes from; the secret is hidden, and nobody has been asked."""
    found = security({"security.protocol": "sasl_plaintext", **TOKEN}).login
    assert found is not None
    assert (found.mechanism, found.user, found.password.reveal()) == ("OAUTHBEARER", "me", "swordfish")
    assert found.endpoint == TokenEndpoint("https://login.example.net/t")
    assert "swordfish" not in repr(found)


def test_tls_looks_at_certificate_and_address() -> None:
    """With nothing said otherwise: the machine's own authorities, and the name that was asked for."""
    found = security({"security.protocol": "SASL_SSL", **SCRAM, "sasl.mechanisms": "PLAIN"}).tls
    assert found is not None
    assert (found.verify_mode, found.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert found.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_an_authority_as_text_or_in_a_folder(tmp_path: Path) -> None:
    """Both as librdkafka takes them."""
    by = certificates.authority("one")
    text = security({"security.protocol": "ssl", "ssl.ca.pem": by.certificate}).tls
    assert text is not None
    assert [one["subject"] for one in text.get_ca_certs()] == [((("commonName", "one"),),)]
    assert security({"security.protocol": "ssl", "ssl.ca.location": str(tmp_path)}).tls is not None


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"security.protocol": "tls"}, r"client.security.protocol: tls: .* write plaintext, ssl"),
        (
            {"security.protocol": "sasl_ssl"},
            "client.sasl.mechanism: chaosk cannot log in by GSSAPI, .*: librdkafka is built",
        ),
        (
            {"security.protocol": "sasl_ssl", **SCRAM, "sasl.mechanism": "AWS_MSK_IAM"},
            "cannot log in by AWS_MSK_IAM, only by PLAIN",
        ),
        (
            {"security.protocol": "sasl_ssl", **SCRAM, "sasl.mechanism": "OAUTHBEARER"},
            "client.sasl.oauthbearer.method: OAUTHBEARER needs it; write oidc",
        ),
        (
            {"security.protocol": "sasl_plaintext", **TOKEN, "https.ca.location": "/no/such/file"},
            "https.ca.location: cannot be used: No such file",
        ),
        (
            {"security.protocol": "sasl_plaintext", **TOKEN, "https.ca.pem": "x"},
            "https.ca.pem: .* name its file with https.ca.location",
        ),
        ({"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN"}, "client.sasl.username: PLAIN needs it"),
        (
            {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "me"},
            "client.sasl.password: PLAIN needs it",
        ),
        ({"security.protocol": "ssl", "ssl.keystore.location": "x.p12"}, "ssl.keystore.location: .* PEM files"),
        ({"security.protocol": "ssl", "ssl.key.pem": "x"}, "ssl.key.pem: .* ssl.key.location"),
        ({"security.protocol": "ssl", "ssl.ca.location": "/no/such/file"}, "ssl.ca.location: cannot be used: No such"),
        ({"security.protocol": "ssl", "ssl.ca.pem": "nonsense"}, "ssl.ca.pem: cannot be used"),
        (
            {"security.protocol": "ssl", "ssl.certificate.location": "/no/such", "ssl.key.location": "/no/such"},
            "ssl.certificate.location: cannot be used: No such file",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(settings: dict[str, str], complaint: str) -> None:
    """With the setting's name and what to write instead, before anything connects."""
    with pytest.raises(PreflightError, match=complaint):
        security(settings)


def test_a_key_whose_password_is_not_given_asks_nobody(tmp_path: Path) -> None:
    """OpenSSL would ask at the terminal, and a run in CI would hang: it is an error instead."""
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    pair = certificates.authority("one")
    key = load_pem_private_key(pair.key.encode(), None)
    (tmp_path / "cert").write_text(pair.certificate)
    (tmp_path / "key").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"swordfish"))
    )
    files = {"ssl.certificate.location": str(tmp_path / "cert"), "ssl.key.location": str(tmp_path / "key")}
    with pytest.raises(PreflightError, match=r"ssl\.key\.password"):
        security({"security.protocol": "ssl", **files})
    assert security({"security.protocol": "ssl", **files, "ssl.key.password": "swordfish"}).tls is not None
