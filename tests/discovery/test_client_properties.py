"""A Java client's properties as librdkafka's settings."""

from __future__ import annotations

import datetime as dt
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from chaosk.cluster.security import security
from chaosk.core.errors import PreflightError, UsageError
from chaosk.discovery.client_properties import ClientTranslation, translated
from chaosk.discovery.inventory_text import inventory_text
from chaosk.discovery.merge import InventoryDraft

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="app" password="hunter2 \\\\"x";'
SCRAM = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={JAAS}\n"
OAUTH_JAAS = (
    'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="app" '
    'clientSecret="hunter2" scope="kafka audit" extension_logicalCluster="lkc-1";'
)
TOKEN = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
    "sasl.login.callback.handler.class="
    "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler\n"
    f"sasl.jaas.config={OAUTH_JAAS}\n"
    "sasl.oauthbearer.token.endpoint.url=https://login.example.net/token\n"
)
PASSWORD = "swordfish"  # noqa: S105 - of a store made here

pytestmark = pytest.mark.pure


def of(folder: Path, text: str, *, pem: bool = False) -> ClientTranslation:
    """The translation of a file with this text."""
    file = folder / "client.properties"
    file.write_text(text, "utf-8")
    return translated(file, folder / "pem" if pem else None)


def settings(said: ClientTranslation) -> dict[str, object]:
    """What the inventory gets, by name."""
    return {".".join(fact.place[1:]): fact.value for fact in said.findings.facts}


def test_jaas_becomes_user_and_secret_reference(tmp_path: Path) -> None:
    """The password is in no value of the inventory; the discovery itself logs in with it."""
    said = of(tmp_path, f"bootstrap.servers=b1:9092\n{SCRAM}linger.ms=5\nkey.serializer=x\n")
    assert settings(said) == {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "app",
        "sasl.password.env": "CHAOSK_SASL_PASSWORD",
    }  # fmt: skip
    assert said.settings["sasl.password"] == 'hunter2 "x'
    assert said.bootstrap == "b1:9092"
    login = security(said.require()).login
    assert login is not None
    assert login.password.reveal() == 'hunter2 "x'
    assert "linger.ms, key.serializer" in said.findings.remarks[0].text
    facts = {fact.place: fact for fact in said.findings.facts}
    assert "hunter2" not in inventory_text(InventoryDraft(facts, {}, said.findings.remarks))


def test_a_client_of_a_token_server(tmp_path: Path) -> None:
    """Id, scope and extensions of the login module, the secret as a reference; properties of Kafka 4.1 count more."""
    said = of(tmp_path, TOKEN)
    common = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.scope": "kafka audit", "sasl.oauthbearer.extensions": "logicalCluster=lkc-1",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example.net/token",
        "sasl.oauthbearer.client.secret.env": "CHAOSK_SASL_OAUTHBEARER_CLIENT_SECRET",
    }  # fmt: skip
    assert settings(said) == {**common, "sasl.oauthbearer.client.id": "app"}
    assert not said.findings.questions
    login = security(said.require()).login
    assert login is not None
    assert (login.user, login.password.reveal()) == ("app", "hunter2")
    said = of(tmp_path, f"{TOKEN}sasl.oauthbearer.client.credentials.client.id=other\n")
    assert settings(said) == {**common, "sasl.oauthbearer.client.id": "other"}


def test_what_a_client_of_a_token_server_does_not_say_is_asked_for(tmp_path: Path) -> None:
    """Nothing can be connected until then."""
    said = of(tmp_path, "\n".join(TOKEN.splitlines()[:3]))
    assert [one.place[1] for one in said.findings.questions] == [
        "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.token.endpoint.url",
    ]  # fmt: skip
    with pytest.raises(PreflightError, match=r"sasl\.oauthbearer"):
        said.require()


def test_the_trust_store_for_the_token_server_alone(tmp_path: Path) -> None:
    """It becomes a PEM file as others do, and is asked for without a folder."""
    name = store(tmp_path).name
    options = f'ssl.truststore.location="{name}" ssl.truststore.password="{PASSWORD}";'
    text = TOKEN.replace('logicalCluster="lkc-1";', f'logicalCluster="lkc-1" {options}')
    said = of(tmp_path, text, pem=True)
    assert settings(said)["https.ca.location"] == str(tmp_path / "pem" / "token-ca.pem")
    assert security(said.require()).login is not None
    assert ("client", "https.ca.location") in [one.place for one in of(tmp_path, text).findings.questions]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\n",
            r":2: sasl\.mechanism: chaosk cannot log in by GSSAPI, only by PLAIN",
        ),
        ("security.protocol=SASL_SSL\n", r":1: security\.protocol: chaosk cannot log in by GSSAPI"),
        (
            "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n",
            r":2: sasl\.mechanism: chaosk gets tokens by a client's id and secret only, .* making them itself",
        ),
        (
            TOKEN.replace("OAuthBearerLoginCallbackHandler", "JaasClientOauthLoginCallbackHandler"),
            r":3: sasl\.login\.callback\.handler\.class: .* not by JaasClientOauthLoginCallbackHandler",
        ),
        (
            TOKEN.replace("https://login.example.net", "file:///etc"),
            r":5: sasl\.oauthbearer\.token\.endpoint\.url: is no address of a token server",
        ),
        (
            f"{TOKEN}sasl.oauthbearer.jwt.retriever.class=a.JwtBearerJwtRetriever\n",
            r":6: sasl\.oauthbearer\.jwt\.retriever\.class: .* not by JwtBearerJwtRetriever",
        ),
        ("security.protocol=TLS\n", r":1: security\.protocol: there is no TLS; write one of PLAINTEXT, SSL"),
        (
            SCRAM.replace("ScramLoginModule", "Krb5LoginModule"),
            r":3: sasl\.jaas\.config: chaosk cannot log in by Krb5LoginModule",
        ),
        (SCRAM.replace('"app"', '"${file:/etc/x:y}"'), "refers to a provider of secrets"),
        (SCRAM.replace(JAAS, "nonsense"), "is no login module with its options"),
    ],
)
def test_logins_that_chaosk_has_not_are_refused(tmp_path: Path, text: str, what: str) -> None:
    """One line names the line and what it takes instead."""
    with pytest.raises(UsageError, match=what):
        of(tmp_path, text)


def test_an_empty_identification_is_none(tmp_path: Path) -> None:
    """Java writes nothing where librdkafka writes `none`."""
    said = of(tmp_path, "security.protocol=SSL\nssl.endpoint.identification.algorithm=\n")
    assert settings(said)["ssl.endpoint.identification.algorithm"] == "none"


def store(folder: Path) -> Path:
    """A PKCS12 store with a key and its certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "app")])
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + dt.timedelta(days=9999))
    data = serialize_key_and_certificates(
        b"app", key, made.sign(key, hashes.SHA256()), None, BestAvailableEncryption(PASSWORD.encode())
    )
    path = folder / "store.p12"
    path.write_bytes(data)
    return path


def jks(folder: Path) -> Path:
    """The same as JKS, by the JDK's own tool."""
    path = folder / "store.jks"
    subprocess.run(
        ["keytool", "-importkeystore", "-noprompt", "-srckeystore", store(folder), "-srcstorepass", PASSWORD,
         "-destkeystore", path, "-deststoretype", "JKS", "-deststorepass", PASSWORD],
        check=True, capture_output=True,
    )  # fmt: skip
    return path


def stores(path: Path) -> str:
    """The properties of a client with this store."""
    return (
        f"security.protocol=SSL\nssl.truststore.location={path.name}\nssl.truststore.password={PASSWORD}\n"
        f"ssl.keystore.location={path.name}\nssl.keystore.password={PASSWORD}\nssl.key.password={PASSWORD}\n"
    )


@pytest.mark.parametrize(
    "make", [store, pytest.param(jks, marks=pytest.mark.skipif(not shutil.which("keytool"), reason="no JDK"))]
)
def test_key_stores_become_pem(tmp_path: Path, make: object) -> None:
    """Both kinds of store; the files can be used, and only this account may read the key."""
    assert callable(make)
    said = of(tmp_path, stores(make(tmp_path)), pem=True)
    assert settings(said) == {
        "security.protocol": "SSL",
        "ssl.ca.location": str(tmp_path / "pem" / "ca.pem"),
        "ssl.certificate.location": str(tmp_path / "pem" / "client.pem"),
        "ssl.key.location": str(tmp_path / "pem" / "client.key"),
    }
    assert security(said.require()).tls is not None
    assert stat.S_IMODE((tmp_path / "pem" / "client.key").stat().st_mode) == 0o600


def test_without_a_folder_pem_files_are_asked_for(tmp_path: Path) -> None:
    """A trust store alone suffices to ask the cluster; nothing is written."""
    text = "\n".join(stores(store(tmp_path)).splitlines()[:3])
    said = of(tmp_path, text)
    assert [one.place for one in said.findings.questions] == [("client", "ssl.ca.location")]
    assert "name --pem FOLDER" in said.findings.questions[0].asks
    assert security(said.require()).tls is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["client.properties", "store.p12"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ssl.truststore.location=no.jks\n", "cannot be read"),
        ("ssl.truststore.location=store.p12\nssl.truststore.password=x\n", "cannot be opened"),
    ],
)
def test_a_store_that_cannot_be_read_is_a_question(tmp_path: Path, text: str, what: str) -> None:
    """The inventory asks; a connection is refused with the line."""
    store(tmp_path)
    said = of(tmp_path, f"security.protocol=SSL\n{text}", pem=True)
    assert what in said.findings.questions[0].asks
    with pytest.raises(PreflightError, match=rf"client\.properties:2: ssl\.truststore\.location: .*{what}"):
        said.require()


def test_a_password_of_a_pem_key_is_a_reference_too(tmp_path: Path) -> None:
    """In a file that names PEM files already."""
    said = of(tmp_path, "security.protocol=SSL\nssl.key.location=key.pem\nssl.key.password=hunter2\n")
    assert settings(said)["ssl.key.password.env"] == "CHAOSK_SSL_KEY_PASSWORD"
    assert settings(said)["ssl.key.location"] == str(tmp_path / "key.pem")
