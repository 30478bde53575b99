"""Keycloak, the OpenID Connect server, from Maven Central, in a lab's network; its tokens are short-lived."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from on_lab import inside

from chaosk.lab.certificates import Pair

VERSION = "26.4.0"
REALM = "kafka"
LIFETIME = 20
"""Seconds that a token is valid."""
_HTTP, _HTTPS = 18080, 18443
_WITHIN = 900.0
"""Seconds until it serves: at its first start it puts itself together, which takes half a minute of processor time."""


@dataclass(frozen=True)
class Keycloak:
    """The server under way."""

    address: str
    log: Path

    @property
    def issuer(self) -> str:
        """The name it has in its tokens."""
        return f"https://{self.address}:{_HTTPS}/realms/{REALM}"

    @property
    def token_url(self) -> str:
        """Where it gives tokens, by TLS."""
        return f"{self.issuer}/protocol/openid-connect/token"

    @property
    def keys_url(self) -> str:
        """Where brokers get its public keys, in plain text: they would need its authority in a file."""
        return f"http://{self.address}:{_HTTP}/realms/{REALM}/protocol/openid-connect/certs"

    def given(self, client: str) -> int:
        """How many tokens it has given to a client."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        return len([line for line in lines if 'type="CLIENT_LOGIN"' in line and f'clientId="{client}"' in line])


@contextmanager
def keycloak(folder: Path, namespace: str, address: str, pair: Pair, clients: dict[str, str]) -> Iterator[Keycloak]:
    """The server at an address of a network namespace, with a certificate and these clients' secrets."""
    home = _unpacked(folder)
    (home / "data" / "import").mkdir(parents=True)
    (home / "data" / "import" / "realm.json").write_text(json.dumps(_realm(clients)), "utf-8")
    (folder / "certificate.pem").write_text(pair.certificate)
    (folder / "key.pem").write_text(pair.key)
    found = Keycloak(address, folder / "keycloak.log")
    with inside(namespace), found.log.open("wb") as log:
        process = subprocess.Popen(_words(home, folder, address), stdout=log, stderr=log, start_new_session=True)
        try:
            _wait(found, process)
            for name, secret in clients.items():
                _warm(found, name, secret)
            yield found
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _unpacked(folder: Path) -> Path:
    artifact = f"-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
    words = ["mvn", "--batch-mode", "--quiet", "dependency:unpack", artifact, f"-DoutputDirectory={folder}"]
    subprocess.run(words, check=True, timeout=900, cwd=folder)
    return folder / f"keycloak-{VERSION}"


def _realm(clients: dict[str, str]) -> dict[str, object]:
    return {
        "realm": REALM,
        "enabled": True,
        "sslRequired": "none",
        "accessTokenLifespan": LIFETIME,
        "clients": [
            {
                "clientId": name, "secret": secret, "serviceAccountsEnabled": True, "publicClient": False,
                "standardFlowEnabled": False, "directAccessGrantsEnabled": False,
            }
            for name, secret in clients.items()
        ],
    }  # fmt: skip


def _words(home: Path, folder: Path, address: str) -> list[str]:
    return [
        "bash", str(home / "bin" / "kc.sh"), "start-dev", "--import-realm", "--db=dev-mem",
        f"--http-host={address}", f"--http-port={_HTTP}", f"--https-port={_HTTPS}",
        f"--https-certificate-file={folder / 'certificate.pem'}", f"--https-certificate-key-file={folder / 'key.pem'}",
        "--spi-events-listener--jboss-logging--success-level=info",
    ]  # fmt: skip


def _warm(found: Keycloak, client: str, secret: str) -> None:
    """Get a token: the first one takes many seconds, which are no test's."""
    url = found.keys_url.replace("/certs", "/token")
    asked = requests.post(url, auth=(client, secret), data={"grant_type": "client_credentials"}, timeout=120)
    asked.raise_for_status()


def _wait(found: Keycloak, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _WITHIN
    while True:
        try:
            requests.get(found.keys_url, timeout=5).raise_for_status()
        except requests.RequestException:
            said = found.log.read_text("utf-8", "replace")
            assert process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(1.0)
        else:
            return
