"""Inventories: every mistake at its place, what must be unique, and secrets that are not in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import INVENTORY, spoil, written

from chaosk.document import DocumentError, load_inventory
from chaosk.spec.inventory import Inventory, SecretRef
from chaosk.spec.lab_layout import LabLayout

TOKEN = """
  sasl.oauthbearer.method: oidc
  sasl.oauthbearer.client.id: me
  sasl.oauthbearer.client.secret: {env: TOKEN}
  sasl.oauthbearer.token.endpoint.url: https://login.example.net/token"""  # noqa: S105 - it names where the secret is
LISTENER = "CLIENT: {address: kafka2.example.com, port: 9092}"

MISTAKES = [
    ("hosts:\n", "hosst:\n", "hosst", "did you mean 'hosts'?"),
    (
        "  0:\n    host: node1",
        "  0:\n    host: nod1",
        "brokers.0.host",
        "there is no host 'nod1'; did you mean 'node1'?",
    ),
    ("1: {host: node1", "1: {host: nowhere", "zookeepers.1.host", "there is no host 'nowhere'"),
    ("  0:\n", "  zero:\n", "brokers.zero", "'zero' is no id; write a whole number"),
    ("  0:\n", "  -1:\n", "brokers.-1", "is no id"),
    ("address: 192.0.2.11", "address: 192.0.2.11/24", "hosts.node1.address", "write an address or host name"),
    ("address: 192.0.2.12, user", "address: 192.0.2.11, user", "hosts.node2", "is the address of hosts.node1, too"),
    ("name: staging", "name: My cluster", "name", "a name of lower-case letters"),
    (
        LISTENER,
        "CLIENT: {address: kafka2.example.com, port: 99999}",
        "brokers.1.listeners.CLIENT.port",
        "write at most 65535",
    ),
    (
        LISTENER,
        "CLIENT: {address: kafka1.example.com, port: 9092}",
        "brokers.1.listeners.CLIENT",
        "is the address of brokers.0.listeners.CLIENT, too",
    ),
    (LISTENER, "CLIENT: {address: kafka2.example.com}", "brokers.1.listeners.CLIENT", "'port' is missing"),
    ("{systemd: kafka.service}", "{systemd: kafka}", "brokers.0.service.systemd", "a systemd unit, like kafka.service"),
    ("{systemd: kafka.service}", "{systemd: kafka.service, start: [a]}", "brokers.0.service.start", "no 'start' here"),
    ("{systemd: kafka.service}", "kafka.service", "brokers.0.service", "must be a mapping"),
    ("      stop: [/opt/kafka/stop]\n", "", "brokers.1.service", "'stop' is missing; add `stop:` (Stops it cleanly"),
    ("start: [/opt/kafka/start]", "start: /opt/kafka/start", "brokers.1.service.start", "write [/opt/kafka/start]"),
    ("pid_file: /run/kafka.pid", "pid_file: kafka.pid", "brokers.1.service.pid_file", "an absolute path"),
    ("{env: KAFKA_PASSWORD}", "hunter2", "client.sasl.password", "a secret must not be in a file"),
    (
        "{env: KAFKA_PASSWORD}",
        "{env: A, file: b}",
        "client.sasl.password",
        "write exactly one of env, file and command",
    ),
    ("{env: KAFKA_PASSWORD}", "{evn: A}", "client.sasl.password.evn", "did you mean 'env'?"),
    ("  security.protocol: SASL_SSL", "  security.protocol: [SASL_SSL]", "client.security.protocol", "not a list"),
    ("name: staging\n", "name: staging\nnetwork_namespace: ../etc\n", "network_namespace", "a name of lower-case"),
    ("hosts:\n", "host: x\nhosts:\n", "host", "did you mean 'hosts'?"),
    (
        "user: chaosk, key_file: keys/id, known_hosts: keys/known}\n  node2",
        "user: 5, key_file: a}\n  node2",
        "hosts.node1.user",
        "write it in quotes",
    ),
    (
        "{systemd: zookeeper.service}}",
        "{systemd: zookeeper.service}, client_port: 0}",
        "zookeepers.1.client_port",
        "write at least 1",
    ),
    (
        "{systemd: zookeeper.service}}",
        "{systemd: zookeeper.service}, peer_ports: 2888}",
        "zookeepers.1.peer_ports",
        "write [2888]",
    ),
    (
        "{systemd: zookeeper.service}}",
        "{systemd: zookeeper.service}, config: zoo.cfg}",
        "zookeepers.1.config",
        "an absolute path",
    ),
    ("clients: false}", "clients: no}", "brokers.1.listeners.INNER.clients", "write true or false"),
    (
        "    listeners:\n      CLIENT: {address: kafka1.example.com, port: 9092}\n",
        "    listeners: {}\n",
        "brokers.0.listeners",
        "too short",
    ),
    (
        "    listeners:\n      CLIENT: {address: kafka1.example.com, port: 9092}\n",
        "",
        "brokers.0",
        "'listeners' is missing",
    ),
    ("  sasl.password: {env: KAFKA_PASSWORD}", "  sasl.password:", "client.sasl.password", "has no value"),
    ("  1: {host: node1", "  01: {host: node1", "zookeepers.01", "different"),
    ("zookeeper.service}", "kafka.service}", "zookeepers.1.service.systemd", "is the service of brokers.0"),
    ("mechanism: PLAIN", "mechanism: GSSAPI", "client.sasl.mechanism", "chaosk cannot log in by GSSAPI, only by PLAIN"),
    ("  sasl.mechanism: PLAIN\n", "", "client.security.protocol", "cannot log in by GSSAPI"),
    (
        "mechanism: PLAIN",
        f"mechanism: OAUTHBEARER{TOKEN.replace('oidc', 'default')}",
        "client.sasl.oauthbearer.method",
        "by OpenID Connect's client credentials only; write oidc",
    ),
    (
        "mechanism: PLAIN",
        f"mechanism: OAUTHBEARER{TOKEN.replace('https://', '')}",
        "client.sasl.oauthbearer.token.endpoint.url",
        "is no address of a token server",
    ),
    (
        "mechanism: PLAIN",
        f"mechanism: OAUTHBEARER{TOKEN}\n  sasl.oauthbearer.grant.type: urn:ietf:params:oauth:grant-type:jwt-bearer",
        "client.sasl.oauthbearer.grant.type",
        "leave it out, and write sasl.oauthbearer.client.id and sasl.oauthbearer.client.secret",
    ),
    (
        "mechanism: PLAIN",
        f"mechanism: OAUTHBEARER{TOKEN.replace('{env: TOKEN}', 'swordfish')}",
        "client.sasl.oauthbearer.client.secret",
        "a secret must not be in a file like this",
    ),
    ("SASL_SSL", "SASL_TLS", "client.security.protocol", "write plaintext, ssl, sasl_plaintext, sasl_ssl"),
    ("  sasl.mechanism: PLAIN", "  sasl.mechanism: PLAIN\n  foo.bar: 1", "client.foo.bar", "no setting 'foo.bar'"),
    ("  sasl.mechanism: PLAIN", "  sasl.mechanism: PLAIN\n  linger.ms: soon", "client.linger.ms", "Invalid value"),
    (
        "  sasl.mechanism: PLAIN",
        "  sasl.mechanism: PLAIN\n  sasl.jaas.config: ScramLoginModule required password=hunter2;",
        "client.sasl.jaas.config",
        "write sasl.username, and sasl.password as {env: NAME}",
    ),
    (
        "ssl.ca.location: ca.pem",
        "ssl.truststore.location: /etc/kafka/truststore.jks",
        "client.ssl.truststore.location",
        "write ssl.ca.location, a PEM file",
    ),
    (
        "ssl.ca.location: ca.pem",
        "ssl.keystore.location: /etc/kafka/keystore.p12",
        "client.ssl.keystore.location",
        "write key and certificate as PEM files",
    ),
    (
        "  sasl.mechanism: PLAIN",
        "  sasl.mechanism: PLAIN\n  internal.termination.signal: 9",
        "client.internal.termination.signal",
        "to this very process",
    ),
    ("ssl.ca.location", "plugin.library.paths", "client.plugin.library.paths", "an inventory loads no code"),
]


@pytest.mark.parametrize(
    "settings",
    ["session.timeout.ms: 10000", "acks: all", "reconnect.backoff.ms: 10\n  reconnect.backoff.max.ms: 50"],
)
def test_settings_of_any_client_are_judged_together(tmp_path: Path, settings: str) -> None:
    """What only consumers heed, or only producers, and values of which one would be wrong by itself."""
    text = spoil(INVENTORY, "  sasl.mechanism: PLAIN", f"  sasl.mechanism: PLAIN\n  {settings}")
    found = load_inventory(written(tmp_path, text))
    assert isinstance(found, Inventory)
    assert settings.partition(":")[0] in found.client


def test_what_a_login_by_a_token_lacks_is_reported_at_its_mechanism(tmp_path: Path) -> None:
    """Each missing setting by name, at the line of `sasl.mechanism`; the probes' client is judged with both blocks."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, spoil(INVENTORY, "mechanism: PLAIN", "mechanism: OAUTHBEARER")))
    line = next(n for n, text in enumerate(INVENTORY.splitlines(), 1) if "sasl.mechanism" in text)
    assert [(one.path, one.line) for one in caught.value.problems] == [
        (f"client.sasl.oauthbearer.{name}", line)
        for name in ("client.id", "client.secret", "method", "token.endpoint.url")
    ]
    whole = spoil(INVENTORY, "mechanism: PLAIN", f"mechanism: OAUTHBEARER{TOKEN}")
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, f"{whole}probe_client: {{sasl.oauthbearer.method: default}}\n"))
    assert [problem.path for problem in caught.value.problems] == ["probe_client.sasl.oauthbearer.method"]


def test_a_login_by_a_token(tmp_path: Path) -> None:
    """It is accepted, also for the probes alone; the authority's file is found beside the inventory."""
    whole = spoil(INVENTORY, "mechanism: PLAIN", f"mechanism: OAUTHBEARER{TOKEN}\n  https.ca.location: login-ca.pem")
    found = load_inventory(written(tmp_path, f"{whole}probe_client: {{sasl.oauthbearer.client.id: probes}}\n"))
    assert isinstance(found, Inventory)
    assert found.client["https.ca.location"] == str(tmp_path / "login-ca.pem")
    assert found.client["sasl.oauthbearer.client.secret"] == SecretRef(env="TOKEN")


def test_the_machines_own_authorities_are_no_file(tmp_path: Path) -> None:
    """`probe`, as librdkafka calls them, and as `chaosk discover` writes."""
    own = spoil(INVENTORY, "ssl.ca.location: ca.pem", "ssl.ca.location: probe")
    found = load_inventory(written(tmp_path, own))
    assert isinstance(found, Inventory)
    assert found.client["ssl.ca.location"] == "probe"


def test_a_setting_of_the_probes_own_login_is_judged_as_well(tmp_path: Path) -> None:
    """`probe_client` goes to the same clients."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, f"{INVENTORY}probe_client: {{sasl.usrname: probes}}\n"))
    assert [problem.path for problem in caught.value.problems] == ["probe_client.sasl.usrname"]


@pytest.mark.parametrize(
    ("old", "new", "path", "says"), MISTAKES, ids=[mistake[1].strip()[:40] for mistake in MISTAKES]
)
def test_mistake_is_reported_where_it_is(tmp_path: Path, old: str, new: str, path: str, says: str) -> None:
    """One mistake, one problem, at its path, saying what to write."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, spoil(INVENTORY, old, new)))
    assert [problem.path for problem in caught.value.problems] == [path], str(caught.value)
    assert says in caught.value.problems[0].what


HOST = "    host: node1\n"
OTHER = "1: {host: node1, service"


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("/", "is not one program's alone"),
        ("/var/log", "is not one program's alone"),
        ("/home/ops", "is not one program's alone"),
        ("/etc", "is the system's own"),
        ("/etc/ssh", "is the system's own"),
        ("/usr/lib/kafka", "is the system's own"),
        ("/srv/kafka/../../etc", "has .. in it"),
    ],
)
def test_a_directory_that_is_no_servers(tmp_path: Path, folder: str, says: str) -> None:
    """Steps wipe data directories, fill them and change their owner: a slip of the pen must not name the system's."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, spoil(INVENTORY, HOST, f"{HOST}    data: [/srv/kafka, {folder}]\n")))
    assert [problem.path for problem in caught.value.problems] == ["brokers.0.data[1]"]
    assert says in caught.value.problems[0].what
    assert "log.dirs" in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("mine", "other", "says"),
    [
        ("/srv/kafka", "/srv/kafka", "is the data directory of zookeeper 1"),
        ("/srv", "/srv/zookeeper", "is not one program's alone"),
        ("/data", "/data/zookeeper", "holds /data/zookeeper, the data directory of zookeeper 1"),
        ("/data/zookeeper/kafka", "/data/zookeeper", "holds /data/zookeeper/kafka, the data directory of broker 0"),
    ],
)
def test_a_directory_that_is_anothers_too(tmp_path: Path, mine: str, other: str, says: str) -> None:
    """What is wiped of the one must not be the other's."""
    document = spoil(INVENTORY, HOST, f"{HOST}    data: [{mine}]\n")
    document = spoil(document, OTHER, f"1: {{host: node1, data: [{other}], service")
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, document))
    assert any(says in problem.what for problem in caught.value.problems), str(caught.value)


def test_a_log_directory_for_a_data_directory(tmp_path: Path) -> None:
    """An easy slip, as Kafka calls its data logs: it holds the log file that the inventory names."""
    document = spoil(INVENTORY, HOST, f"{HOST}    data: [/var/log/kafka]\n    log: /var/log/kafka/server.log\n")
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, document))
    assert "holds /var/log/kafka/server.log, the log file of broker 0" in caught.value.problems[0].what


def test_directories_side_by_side_are_right(tmp_path: Path) -> None:
    """Near misses: several of one broker, names that begin alike, and the same path on another host."""
    document = spoil(INVENTORY, HOST, f"{HOST}    data: [/data/kafka, /data/kafka-2]\n    log: /data/kafka.log\n")
    document = spoil(document, OTHER, "1: {host: node2, data: [/data/kafka], service")
    loaded = load_inventory(written(tmp_path, document))
    assert isinstance(loaded, Inventory)
    assert loaded.brokers[0].data == ("/data/kafka", "/data/kafka-2")


def test_secrets_are_not_repeated_in_messages(tmp_path: Path) -> None:
    """A secret in the wrong place is refused without being printed."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, spoil(INVENTORY, "{env: KAFKA_PASSWORD}", "hunter2-token")))
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value.problems)


def test_a_cluster_without_a_listener_for_clients(tmp_path: Path) -> None:
    """Probes could not come in: said before anything is tried, unless the inventory names bootstrap servers itself."""
    closed = INVENTORY.replace("port: 9092}", "port: 9092, clients: false}")
    with pytest.raises(DocumentError, match="no listener is for clients"):
        load_inventory(written(tmp_path, closed))
    named = closed.replace("client:\n", "client:\n  bootstrap.servers: kafka.example.com:9092\n")
    load_inventory(written(tmp_path, named))


def test_lab_file(tmp_path: Path) -> None:
    """One key, `lab`: a layout, with defaults for what is left out."""
    lab = load_inventory(written(tmp_path, "lab: {name: mine, brokers: 1}\n"))
    assert lab == LabLayout(name="mine", brokers=1)


@pytest.mark.parametrize(
    ("document", "path", "says"),
    [
        ("lab: {brokers: 0}\n", "lab.brokers", "write at least 1"),
        ("lab: {name: Mine}\n", "lab.name", "a lower-case letter"),
        ("lab: {layout: {a: [broker 0, observer 1]}}\n", "lab.layout.a[1]", "a role, like broker 0"),
        ("lab: {layout: {a: [broker 0], b: [broker 0]}}\n", "lab.layout", "is on lab.layout, too"),
        ("lab: {}\nhosts: {}\n", "hosts", "there is no 'hosts' here"),
    ],
)
def test_mistakes_in_a_lab_file(tmp_path: Path, document: str, path: str, says: str) -> None:
    """Values out of range, unknown roles, a role on two hosts, other keys beside."""
    with pytest.raises(DocumentError) as caught:
        load_inventory(written(tmp_path, document))
    assert [problem.path for problem in caught.value.problems] == [path], str(caught.value)
    assert says in caught.value.problems[0].what


def test_controllers(tmp_path: Path) -> None:
    """A controller needs a host, a port that nobody has there, an id that no broker has, and no ZooKeeper beside."""
    document = """\
name: x
hosts: {a: {address: 192.0.2.1}}
brokers:
  0:
    host: a
    service: {systemd: kafka.service}
    listeners: {CLIENT: {address: 192.0.2.1, port: 9092}}
    controller_listener: CONTROL
controllers:
  0: {host: a, service: {systemd: controller.service}, port: 9092}
  1: {host: b, service: {systemd: controller.service}}
zookeepers:
  1: {host: a, service: {systemd: zookeeper.service}}
"""
    path = tmp_path / "inventory.yaml"
    path.write_text(document, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load_inventory(path)
    told = {str(problem) for problem in caught.value.problems}
    for place, says in {
        ":8:": "brokers.0.controller_listener: there is no listener 'CONTROL'; listeners are CLIENT",
        ":10:": "controllers.0: 192.0.2.1:9092 is the address of brokers.0.listeners.CLIENT, too",
        ":11:": "controllers.1.host: there is no host 'b'",
        ":13:": "zookeepers: metadata is kept by ZooKeeper or by controllers, not by both",
    }.items():
        assert any(place in line and says in line for line in told), (says, told)


def test_a_kraft_inventory(tmp_path: Path) -> None:
    """Brokers that are controllers as well, and one that is nothing else, are one quorum."""
    document = """\
name: x
hosts: {a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}
brokers:
  0:
    host: a
    service: {systemd: kafka.service}
    listeners:
      CLIENT: {address: 192.0.2.1, port: 9092}
      CONTROLLER: {address: 192.0.2.1, port: 9093, clients: false}
    controller_listener: CONTROLLER
controllers:
  7: {host: b, service: {systemd: controller.service}}
"""
    path = tmp_path / "inventory.yaml"
    path.write_text(document, encoding="utf-8")
    found = load_inventory(path)
    assert isinstance(found, Inventory)
    assert found.kraft
    assert list(found.voters()) == [0, 7]
    assert found.processes("b") == (found.controllers[7],)
