"""A lab whose brokers also take tokens of an OpenID Connect server, Keycloak, for these tests alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from keycloak import Keycloak, keycloak
from on_lab import until

from chaosk import lab
from chaosk.lab import certificates
from chaosk.lab.broker import CONFIG
from chaosk.lab.certificates import Pair
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.seating import NETWORK
from chaosk.lab.state import of
from chaosk.spec.lab_layout import LabLayout

LAB = "run-oauth"
"""Name of the lab these tests put up."""
CLIENTS = {"chaosk": "of-chaosk-4711", "probes": "of-the-probes-4712"}
"""The clients that the server knows, with their secrets."""

_LISTENER = "listener.name.client"
_MECHANISM = f"{_LISTENER}.oauthbearer"


@pytest.fixture(scope="session")
def scram_inventory(while_folder_runs: ExitStack) -> Path:
    """The inventory of that lab as it is put up, with passwords."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)
    return lab.up(LabLayout(name=LAB, secure=True, mode="kraft"), lines.append)


@pytest.fixture(scope="session")
def server(scram_inventory: Path, tmp_path_factory: pytest.TempPathFactory, while_folder_runs: ExitStack) -> Keycloak:
    """The token server, where this machine is in the lab's network; the lab's authority signed its certificate."""
    home, address = scram_inventory.parent, f"{NETWORK}.1"
    by = Pair((home / "ca.pem").read_text(), (home / "ca_key").read_text())
    folder = tmp_path_factory.mktemp("keycloak")
    pair = certificates.issue(by, address)
    return while_folder_runs.enter_context(keycloak(folder, of(LAB).namespace, address, pair, CLIENTS))


@pytest.fixture(scope="session")
def lab_inventory(scram_inventory: Path, server: Keycloak) -> Path:
    """An inventory beside it whose clients log in by tokens, once the brokers take them."""
    _take_tokens(server)
    found = yaml.safe_load(scram_inventory.read_text("utf-8"))
    home = scram_inventory.parent
    for name, secret in CLIENTS.items():
        (home / f"{name}_secret").write_text(secret)
    found["client"] = {
        "security.protocol": "SASL_SSL", "ssl.ca.location": "ca.pem", "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.token.endpoint.url": server.token_url,
        "sasl.oauthbearer.client.id": "chaosk", "sasl.oauthbearer.client.secret": {"file": "chaosk_secret"},
        "sasl.oauthbearer.scope": "profile", "https.ca.location": "ca.pem",
    }  # fmt: skip
    found["probe_client"] = {
        "sasl.oauthbearer.client.id": "probes", "sasl.oauthbearer.client.secret": {"file": "probes_secret"},
    }  # fmt: skip
    path = scram_inventory.with_name("by-token.yaml")
    path.write_text(yaml.safe_dump(found), "utf-8")
    return path


def _take_tokens(server: Keycloak) -> None:
    """Start the brokers anew with the mechanism besides; connections end with the token that opened them."""
    settings = {
        f"{_LISTENER}.sasl.enabled.mechanisms": "SCRAM-SHA-512,OAUTHBEARER",
        f"{_MECHANISM}.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
        ),
        f"{_MECHANISM}.sasl.server.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
        ),
        f"{_MECHANISM}.sasl.oauthbearer.jwks.endpoint.url": server.keys_url,
        f"{_MECHANISM}.sasl.oauthbearer.expected.issuer": server.issuer,
        f"{_MECHANISM}.sasl.oauthbearer.expected.audience": "account",
        f"{_MECHANISM}.connections.max.reauth.ms": "3600000",
    }
    text = "\n".join(f"{name}={value}" for name, value in settings.items())
    hosts = NamespaceHosts(of(LAB))
    for host in ("node1", "node2", "node3"):
        hosts.on_host(host, ["sh", "-c", 'printf "\\n%s\\n" "$1" >>"$2"', "sh", text, CONFIG])
        hosts.on_host(host, ["sh", "-c", "pid=$(cat /run/kafka/kafka.pid); kill -9 $pid"])
    for host in ("node1", "node2", "node3"):
        hosts.on_host(host, ["/opt/kafka/bin/kafka-start"], timeout=300.0)
    until(lambda: lab.status(LAB).healthy, 300.0)
