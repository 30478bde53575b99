"""An inventory of Ansible as findings: Confluent's roles (cp-ansible), and others by the names of their groups.

For Confluent's roles, what an inventory leaves out has the defaults of those roles (roles/variables of
github.com/confluentinc/cp-ansible): ids, units, paths and ports. Other roles have none that are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from chaosk.cluster.oauthbearer import METHOD
from chaosk.cluster.security import MECHANISMS, only_by
from chaosk.core.errors import UsageError
from chaosk.discovery import token_properties
from chaosk.discovery.ansible_inventory import (
    AnsibleInventory,
    Variable,
    hosts_of,
    is_true,
    of_ini,
    of_yaml,
    text_of,
)
from chaosk.discovery.findings import Findings, Learned, Place, Unlearned, Value
from chaosk.document import nodes
from chaosk.document.load import read
from chaosk.document.parse import parse

_CONFLUENT = {"kafka_broker": "brokers", "kafka_controller": "controllers", "zookeeper": "zookeepers"}
_ROLES = (("controllers", re.compile(r"controller|kraft", re.IGNORECASE)),
          ("zookeepers", re.compile(r"zookeeper|(^|[-_])zk", re.IGNORECASE)),
          ("brokers", re.compile(r"broker|^kafka", re.IGNORECASE)))  # fmt: skip
_OTHERS = re.compile(
    r"connect|registry|rest|ksql|control|client|exporter|ui|proxy|mirror|cruise|manager|replicator", re.IGNORECASE
)
_IDS = {
    "brokers": ("broker_id", "node_id", "kafka_broker_id", "kafka_node_id", "kafka_id"),
    "controllers": ("node_id", "controller_id", "kafka_node_id", "kafka_controller_id"),
    "zookeepers": ("zookeeper_id", "zookeeper_myid", "myid", "zk_id"),
}
_FIRST = {"brokers": 1, "controllers": 9991, "zookeepers": 1}
"""The id of the first host of a group, by Confluent's roles."""


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What Confluent's roles set where an inventory says nothing."""

    unit: str
    config: str
    data: str


_DEFAULTS = {
    "brokers": _Defaults("confluent-server.service", "/etc/kafka/server.properties", "/var/lib/kafka/data"),
    "controllers": _Defaults(
        "confluent-kcontroller.service", "/etc/controller/server.properties", "/var/lib/controller/data"
    ),
    "zookeepers": _Defaults("confluent-zookeeper.service", "/etc/kafka/zookeeper.properties", "/var/lib/zookeeper"),
}
_MECHANISMS = {
    "plain": "PLAIN",
    "scram": "SCRAM-SHA-512",
    "scram256": "SCRAM-SHA-256",
    "kerberos": "GSSAPI",
    "oauth": "OAUTHBEARER",
}

_OF_A_USER = {
    "sasl.username": "which user does chaosk log in as?",
    "sasl.password": "where is the password? Write {env: NAME} or {file: PATH}",
}


@dataclass(frozen=True, slots=True)
class AnsibleHost:
    """A host of the inventory, and its login."""

    name: str
    address: str
    settings: Mapping[str, tuple[Value, str]]
    """Keys of a host in chaosk's inventory, each with its source."""


@dataclass(frozen=True, slots=True)
class PresumedServer:
    """A server without an id in the inventory: what follows if nobody else knows it."""

    host: AnsibleHost
    role: str
    findings: Findings
    """With the id by its position, as Confluent's roles give it; else with the question for it."""


@dataclass(frozen=True, slots=True)
class AnsibleFindings:
    """What an inventory of Ansible says."""

    hosts: tuple[AnsibleHost, ...]
    findings: tuple[Findings, ...]
    presumed: tuple[PresumedServer, ...] = ()
    """Servers without an id there."""


def ansible_findings(path: Path, *, secured: bool) -> AnsibleFindings:
    """Read an inventory of Ansible; ``secured``: True if the settings of clients are known from elsewhere.

    Raises UsageError if it names no brokers, and for logins that chaosk does not support.
    """
    groups = _groups(path)
    roles = _roles(groups)
    if "brokers" not in roles.values():
        listed = ", ".join(name for name in groups if name not in {"all", "ungrouped"}) or "none"
        raise UsageError(
            f"{path}: no group is one of brokers; the groups are {listed}; call it kafka_broker, or a name with "
            "`broker` or `kafka` in it"
        )
    hosts: dict[str, AnsibleHost] = {}
    findings: list[Findings] = []
    presumed: list[PresumedServer] = []
    for name, role in roles.items():
        members = hosts_of(groups, name)
        for position, (host, variables) in enumerate(members.items()):
            hosts.setdefault(host, _host(path, host, variables))
            said = _server(path, (name, role, position), hosts[host], variables)
            if _number(role, variables) is None:
                presumed.append(PresumedServer(hosts[host], role, said))
            else:
                findings.append(said)
    if not secured:
        group = next(name for name, role in roles.items() if role == "brokers")
        findings += _clients(path, group, hosts_of(groups, group))
    return AnsibleFindings(tuple(hosts.values()), tuple(findings), tuple(presumed))


def _groups(path: Path) -> AnsibleInventory:
    data = read(path)
    root, found = parse(data)
    groups = of_yaml(root) if isinstance(root, nodes.Mapping) else of_ini(data.decode("utf-8", "replace"))
    if not any(group.hosts for group in groups.values()):
        why = f": {found[0][0].line}: {found[0][2]}" if found and path.suffix in {".yml", ".yaml"} else ""
        raise UsageError(
            f"{path}: no hosts are found in this inventory of Ansible{why}; name its file of hosts and groups"
        )
    return groups


def _roles(groups: AnsibleInventory) -> dict[str, str]:
    """Return the role of each group that has one: by Confluent's names, else by a word in the name."""
    named = {name: role for name, role in _CONFLUENT.items() if hosts_of(groups, name)}
    if named.get("kafka_broker"):
        return named
    found: dict[str, str] = {}
    for name in groups:
        if name in {"all", "ungrouped"} or not hosts_of(groups, name):
            continue
        role = next((role for role, word in _ROLES if word.search(name)), None)
        if role is not None and not (role == "brokers" and _OTHERS.search(name)):
            found[name] = role
    narrow = {name: role for name, role in found.items() if not any(_below(groups, name, other) for other in found)}
    return narrow or found


def _below(groups: AnsibleInventory, name: str, other: str) -> bool:
    """Return True if another group with a role is a child of this one."""
    return other != name and other in groups[name].children


def _host(path: Path, name: str, variables: Mapping[str, Variable]) -> AnsibleHost:
    address = text_of(variables, "ansible_host", "ansible_ssh_host")
    settings: dict[str, tuple[Value, str]] = {}
    if (arguments := text_of(variables, "ansible_ssh_common_args", "ansible_ssh_extra_args")) is not None:
        text, variable, line = arguments
        if re.search(r"-J\b|ProxyJump|ProxyCommand", text):
            raise UsageError(
                f"{path}:{line}: {variable}: {name} is reached through a jump host, and chaosk goes through none: run "
                "chaosk on a machine that reaches the hosts themselves, like that one, and leave this out"
            )
    for key, names in (("user", ("ansible_user", "ansible_ssh_user")), ("key_file", ("ansible_ssh_private_key_file",))):
        if (value := text_of(variables, *names)) is not None:
            settings[key] = (value[0], f"{value[1]}, {path}:{value[2]}")
    if (port := text_of(variables, "ansible_port", "ansible_ssh_port")) is not None and port[0].isdigit():
        settings["port"] = (int(port[0]), f"{port[1]}, {path}:{port[2]}")
    at = name if address is None else address[0]
    settings["address"] = (at, f"{path}" if address is None else f"{address[1]}, {path}:{address[2]}")
    return AnsibleHost(name, at, settings)


def _server(path: Path, group: tuple[str, str, int], host: AnsibleHost, variables: Mapping[str, Variable]) -> Findings:
    name, role, position = group
    confluent = _CONFLUENT.get(name) == role
    number = _number(role, variables)
    if number is None and not confluent:
        return Findings(questions=(_which(path, role, position, host),))
    default = f"default of Confluent's roles for {name}"
    place: Place = (role, number[0] if number is not None else str(_FIRST[role] + position))
    facts = [Learned((*place, "host"), host.name.lower(), f"group {name}, {path}")]
    inferred: list[Learned] = []
    addresses = (host.address,) if host.address == host.name else (host.name, host.address)
    if confluent:
        usual = _DEFAULTS[role]
        unit = usual.unit
        if (
            role == "brokers"
            and "confluent_server_enabled" in variables
            and not is_true(variables, "confluent_server_enabled")
        ):
            unit = "confluent-kafka.service"
        inferred += [
            Learned((*place, "service", "systemd"), unit, default, inferred=True),
            Learned((*place, "config"), usual.config, default, inferred=True),
            Learned((*place, "data"), (usual.data,), default, inferred=True),
        ]
        if role == "brokers":
            inferred += _listeners(place, host, variables, default)
    return Findings(facts=(*facts, *inferred), addresses={place: addresses})


def _number(role: str, variables: Mapping[str, Variable]) -> tuple[str, str, int] | None:
    found = text_of(variables, *_IDS[role])
    return found if found is not None and found[0].isdigit() else None


def _which(path: Path, role: str, position: int, host: AnsibleHost) -> Unlearned:
    variable = _IDS[role][0]
    return Unlearned(
        (role, str(position + 1)),
        f"{host.name} ({path}) has no id: is it {position + 1}? Set {variable} there, or ask with --bootstrap "
        "and --ssh",
    )


def _listeners(place: Place, host: AnsibleHost, variables: Mapping[str, Variable], default: str) -> Iterator[Learned]:
    """Yield the listeners of Confluent's roles: BROKER between brokers, INTERNAL, and those of the inventory."""
    every: dict[str, int] = {"BROKER": 9091, "INTERNAL": 9092}
    custom = variables.get("kafka_broker_custom_listeners", ({}, 0))[0]
    for key, listener in custom.items() if isinstance(custom, dict) else ():
        if isinstance(listener, dict) and isinstance(listener.get("port"), int):
            every[str(listener.get("name", key)).upper()] = listener["port"]
    for name, port in every.items():
        at = (*place, "listeners", name)
        yield Learned((*at, "address"), host.name, default, inferred=True)
        yield Learned((*at, "port"), port, default, inferred=True)
        if name == "BROKER":
            yield Learned((*at, "clients"), value=False, source="between brokers", inferred=True)


def _clients(path: Path, group: str, members: Mapping[str, Mapping[str, Variable]]) -> Iterator[Findings]:
    """Yield the security that the inventory sets for all listeners; the rest of a client's settings is asked for."""
    variables = next(iter(members.values()))
    secure = is_true(variables, "ssl_enabled")
    sasl = text_of(variables, "sasl_protocol")
    login = sasl is not None and sasl[0].lower() != "none"
    if sasl is not None and login:
        mechanism = _MECHANISMS.get(sasl[0].lower(), sasl[0].upper())
        if mechanism not in MECHANISMS:
            raise UsageError(
                f"{path}:{sasl[2]}: sasl_protocol: {only_by(mechanism)}; name the properties "
                "of a client whose listener takes one of them, with --command-config"
            )
    if not secure and not login:
        return
    protocol = f"{'SASL_' if login else ''}{'SSL' if secure else 'PLAINTEXT'}"
    facts = [Learned(("client", "security.protocol"), protocol, f"ssl_enabled and sasl_protocol of {group}, {path}")]
    asked = []
    if secure:
        asked.append(
            Unlearned(
                ("client", "ssl.ca.location"),
                "which PEM file has the authority's certificate? Or name --command-config client.properties",
            )
        )
    if sasl is not None and login:
        facts.append(Learned(("client", "sasl.mechanism"), mechanism, f"sasl_protocol, {path}:{sasl[2]}"))
        if mechanism == "OAUTHBEARER":
            facts.append(Learned(("client", METHOD), "oidc", f"sasl_protocol, {path}:{sasl[2]}"))
        questions = token_properties.QUESTIONS if mechanism == "OAUTHBEARER" else _OF_A_USER
        asked += [Unlearned(("client", name), asks) for name, asks in questions.items()]
    yield Findings(facts=tuple(facts), questions=tuple(asked))
