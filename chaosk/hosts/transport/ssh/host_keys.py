"""Known host keys: which lines of known_hosts are about a server, and whether one of them vouches for its key. Pure.

Wildcards, negation, hashed names, ``[HOST]:PORT``, ``@revoked`` and ``@cert-authority`` count as for OpenSSH's client
(sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). There is no way to accept an unknown key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from functools import cache

import paramiko
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    SSHCertificateType,
    SSHCertPublicKeyTypes,
    load_ssh_public_identity,
)

SSH_PORT = 22
_AUTHORITY, _REVOKED = "@cert-authority", "@revoked"
_PLAIN = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip
_OF_RSA = ("rsa-sha2-512", "rsa-sha2-256")
_CERTIFIED = "-cert-v01@openssh.com"


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A line of known_hosts."""

    marker: str
    """``@cert-authority``, ``@revoked``, or empty."""
    patterns: tuple[str, ...]
    kind: str
    blob: bytes

    def names(self, name: str) -> bool:
        """Return True if the line is about the server ``name``, which is ``HOST`` or ``[HOST]:PORT``."""
        if any(p.startswith("!") and _matches(p[1:], name) for p in self.patterns):
            return False
        return any(_matches(p, name) for p in self.patterns if not p.startswith("!"))


class UntrustedKeyError(Exception):
    """The key of a server is not vouched for."""

    def __init__(self, key: paramiko.PKey, kind: str, why: str = "") -> None:
        """``kind``: ``unknown``, ``changed``, ``revoked`` or ``certificate``, that with the reason."""
        super().__init__(f"{kind} host key {fingerprint(key)} {why}")
        self.key, self.kind, self.why = key, kind, why


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The lines about one server, and the lines that revoke a key for it."""

    name: str
    """Its name without a port, which is what certificates name."""
    keys: tuple[KnownKey, ...]
    authorities: tuple[KnownKey, ...]
    revoked: frozenset[bytes]

    def algorithms(self) -> tuple[str, ...]:
        """Return the algorithms of host keys to offer: kinds that are known come first.

        Certificates are asked for only of a server that an authority is known for.
        """
        known = [kind for key in self.keys for kind in (_OF_RSA if key.kind == "ssh-rsa" else (key.kind,))]
        plain = tuple(dict.fromkeys((*(kind for kind in known if kind in _PLAIN), *_PLAIN)))
        return (*(f"{kind}{_CERTIFIED}" for kind in _PLAIN), *plain) if self.authorities else plain

    def check(self, key: paramiko.PKey) -> None:
        """Raise UntrustedKeyError unless a line vouches for the key or its certificate, and none revokes it."""
        blob = key.asbytes()
        certificate = _certificate(key)
        authority = None if certificate is None else blob_of(certificate.signature_key())
        if blob in self.revoked or authority in self.revoked:
            raise UntrustedKeyError(key, "revoked")
        if certificate is not None and any(authority == known.blob for known in self.authorities):
            if (why := _invalid(certificate, self.name)) is not None:
                raise UntrustedKeyError(key, "certificate", why)
            return
        if any(blob == known.blob for known in self.keys):
            return
        raise UntrustedKeyError(key, "changed" if self.keys else "unknown")


def known_keys(texts: Iterable[str], host: str, port: int, *, alias: bool = False) -> KnownKeys:
    """Return what the texts of known_hosts files say about a server.

    Lines for ``HOST`` count for another port than 22 only if none is for ``[HOST]:PORT``. An ``alias`` has no port.
    """
    lines = [line for text in texts for line in _lines(text)]
    host = host.lower()
    names = (host,) if alias or port == SSH_PORT else (f"[{host}]:{port}", host)
    own: list[KnownKey] = []
    for name in names:
        own = own or [line for line in lines if line.marker == "" and line.names(name)]
    either = [line for line in lines if any(line.names(name) for name in names)]
    return KnownKeys(
        host, tuple(own), tuple(line for line in either if line.marker == _AUTHORITY),
        frozenset(line.blob for line in either if line.marker == _REVOKED),
    )  # fmt: skip


def fingerprint(key: paramiko.PKey) -> str:
    """Format a key as ``ssh-keygen -l`` does."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"{key.get_name()} SHA256:{digest}"


def blob_of(key: SSHCertPublicKeyTypes) -> bytes:
    """Return a public key in SSH's own format."""
    return base64.b64decode(key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).split()[1])


def _lines(text: str) -> Iterator[KnownKey]:
    """Yield the lines that can be read: the key of any other counts as unknown, and is refused."""
    for line in text.splitlines():
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker not in {"", _AUTHORITY, _REVOKED}:
            continue
        try:
            blob = base64.b64decode(words[2], validate=True)
        except (binascii.Error, ValueError):
            continue
        if blob[4 : 4 + len(words[1])] == words[1].encode():
            yield KnownKey(marker, tuple(words[0].split(",")), words[1], blob)


def _matches(pattern: str, name: str) -> bool:
    if pattern.startswith("|1|"):
        salt, _, digest = pattern[3:].partition("|")
        try:
            own = hmac.digest(base64.b64decode(salt), name.encode(), "sha1")
            return hmac.compare_digest(own, base64.b64decode(digest))
        except (binascii.Error, ValueError):
            return False
    return _expression(pattern.lower()).fullmatch(name) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern with ``*`` and ``?``; brackets stand for themselves."""
    return re.compile(translate(pattern.replace("[", "[[]")))


def _certificate(key: paramiko.PKey) -> SSHCertificate | None:
    blob = key.public_blob
    if blob is None or not blob.key_type.endswith(_CERTIFIED):
        return None
    text = f"{blob.key_type} {base64.b64encode(blob.key_blob).decode()}".encode()
    try:
        found = load_ssh_public_identity(text)
    except (ValueError, UnsupportedAlgorithm):
        return None
    return found if isinstance(found, SSHCertificate) else None


def _invalid(certificate: SSHCertificate, name: str) -> str | None:
    """Return the reason why a certificate does not vouch for a server; None if it does."""
    try:
        certificate.verify_cert_signature()
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return "its signature is wrong"
    if certificate.type is not SSHCertificateType.HOST:
        return "it is a certificate of a user, not of a host"
    if not certificate.valid_after <= time.time() < certificate.valid_before:
        return "it is not valid at this time; renew it, or check the clock of this machine"
    if certificate.critical_options:
        return f"it has the critical option {next(iter(certificate.critical_options)).decode(errors='replace')}"
    principals = [principal.decode(errors="replace").lower() for principal in certificate.valid_principals]
    if not any(_expression(principal).fullmatch(name) for principal in principals):
        return f"it is for {', '.join(principals) or 'no host at all'}, not for {name}"
    return None
