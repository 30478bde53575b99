"""Make an untrusted, self-signed certificate to replace a broker's own. Pure."""

from __future__ import annotations

import base64
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from chaosk.core.model import Model

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256: FIPS 186-4, D.1.2.3
_SERIAL_BITS = 128


class UntrustedCertificate(Model):
    """A self-signed certificate and its key."""

    pem: str
    """The key as PKCS #8 without a password, then the certificate, both as PEM."""
    sha256: str
    """SHA-256 fingerprint of the certificate, in hexadecimal."""


def fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of a certificate in DER, in hexadecimal."""
    return hashlib.sha256(certificate).hexdigest()


def untrusted_certificate(of: str, mark: str) -> UntrustedCertificate:
    """Make a self-signed copy of the certificate ``of``, which is DER in base64.

    Subject, alternative names and dates are copied, so that a broker accepts it as a new version of its own
    certificate. The key is derived from ``mark`` alone, so that two calls return the same certificate. It needs no
    secrecy, because no client trusts the certificate.
    """
    former = x509.load_der_x509_certificate(base64.b64decode(of))
    seed = int.from_bytes(hashlib.sha512(mark.encode()).digest(), "big")
    key = ec.derive_private_key(seed % (_ORDER - 1) + 1, ec.SECP256R1())
    made = (
        x509.CertificateBuilder()
        .subject_name(former.subject)
        .issuer_name(former.subject)
        .public_key(key.public_key())
        .serial_number(seed >> _SERIAL_BITS * 3 | 1)
        .not_valid_before(former.not_valid_before_utc)
        .not_valid_after(former.not_valid_after_utc)
    )
    for names in former.extensions:
        if isinstance(names.value, x509.SubjectAlternativeName):
            made = made.add_extension(names.value, critical=names.critical)
    signed = made.sign(key, hashes.SHA256(), ecdsa_deterministic=True)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem = private.decode("ascii") + signed.public_bytes(Encoding.PEM).decode("ascii")
    return UntrustedCertificate(pem=pem, sha256=fingerprint(signed.public_bytes(Encoding.DER)))
