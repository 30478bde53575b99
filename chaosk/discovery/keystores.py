"""Java's key stores as PEM: PKCS12 read here, JKS by the JDK's keytool."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates, load_pkcs12

from chaosk.core.errors import PreflightError

_JKS = b"\xfe\xed\xfe\xed"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)
_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class PemPair:
    """A key and its certificates, as PEM."""

    key: str
    """Not encrypted."""
    certificates: str
    """The key's own first."""


def certificates(path: Path, password: str) -> str:
    """Return all certificates of a trust store as PEM; raises PreflightError if it cannot be read."""
    data = _read(path)
    if text := "".join(_PEM.findall(data.decode("latin-1"))):
        return text
    if data.startswith(_JKS):
        said = _keytool(path, password, "-list", "-rfc", "-keystore", str(path), "-storepass:env", "CHAOSK_STORE")
        text = "".join(one if one.endswith("\n") else f"{one}\n" for one in _PEM.findall(said))
    else:
        store = _pkcs12(path, data, password)
        listed = [one for one in (store.cert, *store.additional_certs) if one is not None]
        text = "".join(one.certificate.public_bytes(Encoding.PEM).decode() for one in listed)
    if not text:
        raise PreflightError(f"{path}: holds no certificate; check the path")
    return text


def key_pair(path: Path, password: str, key_password: str) -> PemPair:
    """Return the only key of a key store with its certificates; raises PreflightError if it cannot be read."""
    data = _read(path)
    if data.startswith(_JKS):
        data = _as_pkcs12(path, password, key_password or password)
    store = _pkcs12(path, data, password)
    if store.key is None or store.cert is None:
        raise PreflightError(f"{path}: holds no private key with its certificate; check the path")
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    chain = (store.cert, *store.additional_certs)
    return PemPair(key, "".join(one.certificate.public_bytes(Encoding.PEM).decode() for one in chain))


def write_private(path: Path, text: str) -> None:
    """Write a file that only this account may read; raises PreflightError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)
    except OSError as error:
        raise PreflightError(f"{path}: cannot be written: {error.strerror}; name another folder with --pem") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PreflightError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from error


def _pkcs12(path: Path, data: bytes, password: str) -> PKCS12KeyAndCertificates:
    try:
        return load_pkcs12(data, password.encode() if password else None)
    except (ValueError, TypeError) as error:
        raise PreflightError(f"{path}: cannot be opened with its password: {error}") from None


def _as_pkcs12(path: Path, password: str, key_password: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="chaosk-") as folder:
        target = Path(folder) / "store.p12"
        words = ("-importkeystore", "-noprompt", "-srckeystore", str(path), "-srcstorepass:env", "CHAOSK_STORE",
                 "-destkeystore", str(target), "-deststoretype", "PKCS12", "-deststorepass:env",
                 "CHAOSK_STORE")  # fmt: skip
        if key_password != password:
            raise PreflightError(f"{path}: its key has another password than the store; write it as PEM yourself")
        _keytool(path, password, *words)
        return target.read_bytes()


def _keytool(path: Path, password: str, *words: str) -> str:
    """Run keytool; the password is in its environment, because other accounts see command lines."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "keytool") if home else shutil.which("keytool")
    if program is None or not Path(program).is_file():
        raise PreflightError(
            f"{path}: is a JKS store, and there is no keytool here to read it; install Java, or write it as PEM"
        )
    environment = {**os.environ, "CHAOSK_STORE": password, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            (program, *words), capture_output=True, text=True, timeout=_WITHIN, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PreflightError(f"{path}: {program}: {error}") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise PreflightError(f"{path}: cannot be opened with its password: {said[0] if said else 'keytool failed'}")
    return done.stdout
