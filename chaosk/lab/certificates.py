"""A certificate authority for the lab, and certificates signed by it; made in memory, as the SSH keys are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

YEARS = timedelta(days=3650)
"""Validity of a certificate, longer than any lab lives."""
_EARLIER = timedelta(days=1)  # for clocks that are slightly behind


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both as PEM; the key as PKCS #8 without a password, as Kafka reads it."""

    certificate: str
    key: str


def authority(name: str) -> Pair:
    """Make a new self-signed authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(name)
    now = datetime.now(UTC)
    made = (
        _builder(subject, subject, key.public_key(), (now - _EARLIER, now + YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pair(made, key)


def issue(by: Pair, address: str, until: datetime | None = None) -> Pair:
    """Make a server certificate for an address or a name, valid until ``until``, by default for years.

    Raises TypeError if the authority's key is not an elliptic-curve key.
    """
    signing = load_pem_private_key(by.key.encode("ascii"), None)
    if not isinstance(signing, ec.EllipticCurvePrivateKey):
        raise TypeError("the authority's key is not one of ours")
    issuer = x509.load_pem_x509_certificate(by.certificate.encode("ascii"))
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    end = until or now + YEARS
    made = (
        _builder(_named(address), issuer.subject, key.public_key(), (min(now, end) - _EARLIER, end))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.SubjectAlternativeName([_general(address)]), critical=False)
        .sign(signing, hashes.SHA256())
    )
    return _pair(made, key)


def _general(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, good: tuple[datetime, datetime]
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(good[0])
        .not_valid_after(good[1])
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Pair(certificate.public_bytes(Encoding.PEM).decode("ascii"), private.decode("ascii"))
