"""Inventories of Ansible: of Confluent's roles, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import UsageError
from chaosk.discovery.ansible_findings import AnsibleFindings, ansible_findings

pytestmark = pytest.mark.pure
PLAIN = """\
[kafka]
kafka[1:2].example.net ansible_port=2222 broker_id=7

[zk]
zoo1 ansible_host=192.0.2.9 myid=3

[kafka_connect]
connect1

[all:vars]
ansible_user=ops
"""


def of(folder: Path, text: str, *, secured: bool = True, name: str = "hosts.yml") -> AnsibleFindings:
    """The findings of an inventory with this text."""
    file = folder / name
    file.write_text(text, "utf-8")
    return ansible_findings(file, secured=secured)


def values(said: AnsibleFindings) -> dict[tuple[str, ...], object]:
    """The values by place."""
    every = (*said.findings, *(one.findings for one in said.presumed))
    return {fact.place: fact.value for one in every for fact in one.facts}


def test_a_plain_inventory_as_ini(tmp_path: Path) -> None:
    """Groups by their names, ranges written out; Connect is no broker; units are not guessed."""
    said = of(tmp_path, PLAIN.replace(" broker_id=7", ""), name="hosts")
    assert [host.name for host in said.hosts] == ["kafka1.example.net", "kafka2.example.net", "zoo1"]
    assert said.hosts[0].settings["user"] == ("ops", f"ansible_user, {tmp_path / 'hosts'}:11")
    assert said.hosts[0].settings["port"][0] == 2222
    assert said.hosts[2].address == "192.0.2.9"
    assert values(said) == {("zookeepers", "3", "host"): "zoo1"}
    assert [(one.host.name, one.findings.questions[0].place) for one in said.presumed] == [
        ("kafka1.example.net", ("brokers", "1")),
        ("kafka2.example.net", ("brokers", "2")),
    ]
    assert "Set broker_id there" in said.presumed[0].findings.questions[0].asks


def test_ids_of_a_plain_inventory(tmp_path: Path) -> None:
    """By the variables that roles use."""
    text = "all:\n  children:\n    my_brokers: {hosts: {b1: {broker_id: 11}, b2: {kafka_node_id: 12}}}\n"
    assert values(of(tmp_path, text)) == {("brokers", "11", "host"): "b1", ("brokers", "12", "host"): "b2"}


def test_confluents_defaults(tmp_path: Path) -> None:
    """Ids by position, controllers from 9991; units, paths and listeners of these roles."""
    brokers = "{vars: {confluent_server_enabled: false}, hosts: {b1: , b2: {broker_id: 5}}}"
    text = f"kafka_controller: {{hosts: {{c1: }}}}\nkafka_broker: {brokers}\n"
    found = values(of(tmp_path, text))
    assert found["brokers", "1", "host"] == "b1"
    assert found["brokers", "5", "host"] == "b2"
    assert found["brokers", "1", "service", "systemd"] == "confluent-kafka.service"
    assert found["controllers", "9991", "service", "systemd"] == "confluent-kcontroller.service"
    assert found["brokers", "1", "listeners", "INTERNAL", "port"] == 9092
    assert found["brokers", "1", "listeners", "BROKER", "clients"] is False


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ("", {}),
        ("ssl_enabled: true", {"security.protocol": "SSL"}),
        (
            "ssl_enabled: true, sasl_protocol: scram",
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"},
        ),
        ("sasl_protocol: plain", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}),
        ("sasl_protocol: none", {}),
    ],
)
def test_security_for_all(tmp_path: Path, variables: str, settings: dict[str, str]) -> None:
    """Of `all` or a group; what the inventory does not have is asked for."""
    said = of(tmp_path, f"all:\n  vars: {{{variables}}}\nkafka_broker: {{hosts: {{b1: }}}}\n", secured=False)
    assert {place[1]: value for place, value in values(said).items() if place[0] == "client"} == settings
    asked = {one.place[1] for each in said.findings for one in each.questions}
    assert asked == ({"ssl.ca.location"} if "ssl" in variables else set()) | (
        {"sasl.username", "sasl.password"} if "sasl.mechanism" in settings else set()
    )


def test_tokens_for_all(tmp_path: Path) -> None:
    """The mechanism and its method; client, secret and server are asked for."""
    said = of(tmp_path, "all:\n  vars: {sasl_protocol: oauth}\nkafka_broker: {hosts: {b1: }}\n", secured=False)
    assert {place[1]: value for place, value in values(said).items() if place[0] == "client"} == {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc",
    }  # fmt: skip
    assert {one.place[1] for each in said.findings for one in each.questions} == {
        "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.token.endpoint.url",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("web: {hosts: {w1: }}\n", "no group is one of brokers; the groups are web"),
        ("{}\n", "no hosts are found"),
        (
            "all: {vars: {sasl_protocol: kerberos}}\nkafka_broker: {hosts: {b1: }}\n",
            "hosts.yml:1: sasl_protocol: chaosk cannot log in by GSSAPI",
        ),
        (
            "all: {vars: {ansible_ssh_common_args: -J bastion}}\nkafka: {hosts: {b1: {broker_id: 1}}}\n",
            "hosts.yml:1: ansible_ssh_common_args: b1 is reached through a jump host",
        ),
    ],
)
def test_inventories_that_cannot_be_used(tmp_path: Path, text: str, what: str) -> None:
    """One line with the reason."""
    with pytest.raises(UsageError, match=what):
        of(tmp_path, text, secured=False)


def test_templates_have_no_value(tmp_path: Path) -> None:
    """They are Ansible's to evaluate; a template as an id is asked for, not written down."""
    said = of(tmp_path, 'kafka: {hosts: {b1: {broker_id: "{{ node }}", ansible_user: "{{ who }}"}}}\n')
    assert values(said) == {}
    assert "user" not in said.hosts[0].settings
