"""Inventories as values: kinds of service, ids, hosts that must exist, what clients bootstrap from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from chaosk.spec.inventory import Host, Inventory, ScriptService, SecretRef, SystemdService
from chaosk.spec.lab_layout import LabLayout

SCRIPT = {"start": ["/start"], "stop": ["/stop"], "pid_file": "/run/pid"}
LISTENER = {"address": "kafka.example.com", "port": 9092}


def inventory(service: object = None, broker: str = "0", **changes: object) -> Inventory:
    """A cluster of one broker, with some of its keys changed."""
    brokers = {broker: {"host": "node1", "service": service or SCRIPT, "listeners": {"CLIENT": LISTENER}}}
    plain: dict[str, Any] = {"name": "x", "hosts": {"node1": {"address": "192.0.2.1"}}, "brokers": brokers, **changes}
    return Inventory.model_validate_json(json.dumps(plain))


def test_kind_of_service_is_told_by_its_keys() -> None:
    """A systemd unit, or scripts and a pid file."""
    assert inventory({"systemd": "kafka.service"}).brokers[0].service == SystemdService(systemd="kafka.service")
    assert isinstance(inventory().brokers[0].service, ScriptService)


def test_wrong_service_is_one_kind_of_error() -> None:
    """Only the kind that was meant is complained about: not each field of the other kind as well."""
    with pytest.raises(ValidationError) as caught:
        inventory({"systemd": "kafka"})
    assert len(caught.value.errors()) == 1
    with pytest.raises(ValidationError) as caught:
        inventory({"start": ["/start"]})
    assert sorted(str(error["loc"][-1]) for error in caught.value.errors()) == ["pid_file", "stop"]


@pytest.mark.parametrize("broker", ["-1", "01", "x", "1.5", "", "9999999999"])
def test_ids_are_whole_numbers(broker: str) -> None:
    """An id that a broker could not have is refused."""
    with pytest.raises(ValidationError, match="is no id"):
        inventory(broker=broker)


def test_every_process_runs_on_a_host_of_the_inventory() -> None:
    """Also where no document loader has checked it."""
    with pytest.raises(ValidationError, match="there is no host 'node1'; hosts are other"):
        inventory(hosts={"other": {"address": "192.0.2.1"}})


def test_clients_bootstrap_from_client_listeners() -> None:
    """Every listener for clients, unless the inventory names the servers itself."""
    assert inventory().bootstrap_servers() == "kafka.example.com:9092"
    assert inventory(client={"bootstrap.servers": "a:1,b:2"}).bootstrap_servers() == "a:1,b:2"


@pytest.mark.parametrize("plain", [{}, {"env": "A", "file": "b"}])
def test_secret_is_in_exactly_one_place(plain: dict[str, str]) -> None:
    """A reference names an environment variable or a file, never both or none."""
    with pytest.raises(ValidationError, match="exactly one of env, file and command"):
        SecretRef.model_validate(plain)


@pytest.mark.parametrize(
    "host",
    [
        {"address": "a b"}, {"address": "$(id)"}, {"address": "-oProxyCommand=x"}, {"address": ""}, {"address": "a\n"},
        {"address": "a", "port": 0}, {"address": "a", "port": 70000}, {"address": "a", "colour": "red"},
    ],
)  # fmt: skip
def test_hosts_that_could_mean_something_else_are_refused(host: dict[str, object]) -> None:
    """Nothing that a shell or ssh could take for an option or a command is an address."""
    with pytest.raises(ValidationError):
        inventory(hosts={"node1": host})


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "kafka-1.example.com", "a", "::1"])
def test_addresses(address: str) -> None:
    """IPv4, IPv6 and names."""
    assert inventory(hosts={"node1": {"address": address}}).hosts["node1"].address == address


def test_reads_back_equal() -> None:
    """Through JSON and back nothing changes: ids are keys there, and so text."""
    made = inventory(client={"sasl.password": {"env": "A"}, "linger.ms": 5, "debug": "all"})
    assert Inventory.model_validate_json(made.model_dump_json(by_alias=True)) == made


def test_processes_of_a_host() -> None:
    """Brokers first, then ZooKeeper nodes."""
    made = inventory(zookeepers={"1": {"host": "node1", "service": {"systemd": "zk.service"}}})
    assert made.processes("node1") == (made.brokers[0], made.zookeepers[1])
    assert made.processes("node2") == ()


@pytest.mark.parametrize("layout", [{"a": ["broker 0"]}, {"a": ["broker 0", "zookeeper 1"], "b": []}])
def test_lab_layouts(layout: dict[str, list[str]]) -> None:
    """By host its roles."""
    assert LabLayout.model_validate({"layout": layout}).layout is not None


@pytest.mark.parametrize("role", ["broker", "broker -1", "kafka 0", "broker 0 ", "broker  0"])
def test_roles_have_one_spelling(role: str) -> None:
    """A kind and an id with one space between."""
    with pytest.raises(ValidationError):
        LabLayout.model_validate({"layout": {"a": [role]}})


@pytest.mark.parametrize("user", ["ops", "_svc", "nina.k", r"CORP\nina", "nina@corp.example.com", "host$", "a-b+c"])
def test_accounts_of_every_kind(user: str) -> None:
    """Of this machine, of a domain, of a service."""
    assert Host(address="192.0.2.1", user=user).user == user


@pytest.mark.parametrize("user", ["", "-oProxyCommand=x", "a b", "a\nb ALL=(ALL) NOPASSWD: ALL", "$(id)", "a;b", "a'b"])
def test_an_account_is_one_word(user: str) -> None:
    """It stands in commands and in the sudoers file that chaosk prints for people to use."""
    with pytest.raises(ValidationError, match="match pattern"):
        Host(address="192.0.2.1", user=user)
