"""Differences between an inventory and its cluster."""

from __future__ import annotations

import pytest

from chaosk.discovery.drift import differences
from chaosk.discovery.findings import Learned
from chaosk.discovery.merge import InventoryDraft
from chaosk.document.parse import parse

pytestmark = pytest.mark.pure
INVENTORY = """\
name: staging
hosts: {b1: {address: b1}}
brokers:
  1:
    host: b1
    service: {systemd: kafka.service}
    data: [/data2, /data1]
    listeners:
      CLIENT: {address: b1, port: 9092}
      INTERNAL: {address: b1, port: 9091, clients: false}
zookeepers:
  1: {host: b1, service: {start: [/a], stop: [/b], pid_file: /run/zk.pid}}
"""
B1, Z1 = ("brokers", "1"), ("zookeepers", "1")
SAME = {
    (*B1, "host"): "b1",
    (*B1, "service", "systemd"): "kafka.service",
    (*B1, "config"): "/etc/kafka/server.properties",
    (*B1, "data"): ("/data1", "/data2"),
    (*B1, "listeners", "CLIENT", "address"): "b1",
    (*B1, "listeners", "CLIENT", "port"): 9092,
    (*B1, "listeners", "INTERNAL", "address"): "b1",
    (*B1, "listeners", "INTERNAL", "port"): 9091,
    (*B1, "listeners", "INTERNAL", "clients"): False,
    (*Z1, "host"): "b1",
    (*Z1, "service", "start"): ("/other-start",),
    (*Z1, "service", "pid_file"): "/run/zk.pid",
    (*Z1, "peer_ports"): (2888, 3888),
}
Changes = dict[tuple[str, ...], object]


def drift(changes: Changes, without: tuple[str, ...] = (), text: str = INVENTORY) -> list[str]:
    """The differences where these facts are found, and none below a place."""
    found = {
        place: value for place, value in {**SAME, **changes}.items() if not without or place[: len(without)] != without
    }
    facts = {place: Learned(place, value, "there") for place, value in found.items()}  # type: ignore[arg-type]
    root, _ = parse(text.encode())
    assert root is not None
    return [
        f"{one.line}: {one.path}: {one.what}" for one in differences(root, InventoryDraft(facts, {}), all_brokers=True)
    ]


def test_no_difference() -> None:
    """Order of directories, optional keys, defaults, inferred programs and names of hosts are none."""
    assert drift({}) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({(*B1, "host"): "b2"}, "5: brokers.1.host: b1 here, b2 found (there)"),
        ({(*B1, "data"): ("/data1",)}, "7: brokers.1.data: /data2, /data1 here, /data1 found (there)"),
        (
            {(*B1, "listeners", "CLIENT", "port"): 9192},
            "9: brokers.1.listeners.CLIENT.port: 9092 here, 9192 found (there)",
        ),
        (
            {(*B1, "listeners", "CLIENT", "clients"): False},
            "9: brokers.1.listeners.CLIENT.clients: true here, false found (there)",
        ),
        ({(*B1, "rack"): "a"}, "4: brokers.1.rack: nothing here, a found (there)"),
        (
            {(*B1, "service", "systemd"): "other.service"},
            "6: brokers.1.service.systemd: kafka.service here, other.service found (there)",
        ),
        (
            {(*Z1, "service", "pid_file"): "/run/x.pid"},
            "12: zookeepers.1.service.pid_file: /run/zk.pid here, /run/x.pid found (there)",
        ),
        ({(*Z1, "client_port"): 2182}, "12: zookeepers.1.client_port: 2181 here, 2182 found (there)"),
        ({("brokers", "2", "host"): "b2"}, "3: brokers.2: is not here, and the cluster has it on b2"),
    ],
)
def test_a_difference_is_told_with_its_line(changes: Changes, line: str) -> None:
    """Of the value, or of the block in which it is missing."""
    assert drift(changes) == [line]


def test_what_is_gone() -> None:
    """A broker that nothing names, and a listener that a broker has no more."""
    assert drift({}, without=B1) == ["4: brokers.1: is here, and nothing names it: it is down, or gone"]
    assert drift({}, without=(*B1, "listeners", "INTERNAL")) == [
        "10: brokers.1.listeners.INTERNAL: is here, and the broker has no such listener"
    ]


def test_a_unit_in_place_of_scripts() -> None:
    """And the other way round."""
    place = (*Z1, "service")
    assert drift({(*place, "systemd"): "zk.service"}, without=(*place, "pid_file")) == [
        "12: zookeepers.1.service: scripts here, the unit zk.service found (there)"
    ]
    assert drift({(*B1, "service", "pid_file"): "/run/k.pid"}, without=(*B1, "service", "systemd")) == [
        "6: brokers.1.service: the unit kafka.service here, the pid file /run/k.pid found (there)"
    ]
