"""Cuts of a part of the network, on hosts without Kafka: what is meant is silent, and everything beside it goes on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bare_hosts import Bare, bare
from on_lab import until

from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.planning.resolve import aim
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.timeout(240), pytest.mark.long]

CLIENT, BROKER, ZOOKEEPER = 9092, 9093, 2181
PROBES = "probes"
"""Where the tests run: what the lab's hosts see as chaosk's machine."""
SERVER = """
import selectors, socket
doors = selectors.DefaultSelector()
for port in (9092, 9093, 2181):
    doors.register(socket.create_server(("", port)), selectors.EVENT_READ)
post = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
post.bind(("", 7777))
doors.register(post, selectors.EVENT_READ)
while True:
    for key, _ in doors.select():
        if key.fileobj is post:
            with open("/tmp/post", "ab") as file:
                file.write(post.recv(100) + b" ")
        else:
            key.fileobj.accept()[0].close()
"""
WAYS = [
    (one, two, port)
    for one in ("node1", "node2", "node3", PROBES)
    for two in ("node1", "node2", "node3")
    for port in (CLIENT, BROKER, ZOOKEEPER)
    if one != two
]
"""Who connects to whom, and where."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts with a server at each of the ports; in the inventory a broker each, and a ZooKeeper node on node1."""
    with bare("partial", 3) as here:
        for host in here.inventory.hosts:
            here.on(host, f"setsid python3 -c '{SERVER}' </dev/null >/dev/null 2>&1 & sleep 1")
        until(lambda: silent(here) == set(), 20.0)
        yield here


def silent(hosts: Bare) -> set[tuple[str, str, int]]:
    """The ways on which a connection does not stand within two seconds; all are tried at the same time."""
    found: set[tuple[str, str, int]] = set()

    def of_host(one: str) -> None:
        mine = [(two, port) for start, two, port in WAYS if start == one]
        tries = "".join(
            f"(timeout 2 bash -c '</dev/tcp/{hosts.inventory.hosts[two].address}/{port}' || echo {two} {port}) & "
            for two, port in mine
        )
        for line in hosts.on(one, f"{{ {tries} wait; }} 2>/dev/null").splitlines():
            two, port = line.split()
            found.add((one, two, int(port)))

    asked = [threading.Thread(target=of_host, args=(host,)) for host in hosts.inventory.hosts]
    for thread in asked:
        thread.start()
    for start, two, port in WAYS:
        if start == PROBES and not passes(hosts.inventory.hosts[two].address, port):
            found.add((PROBES, two, port))
    for thread in asked:
        thread.join()
    return found


def passes(address: str, port: int) -> bool:
    """Whether a connection from here stands within a second."""
    try:
        with socket.create_connection((address, port), 1.0):
            return True
    except TimeoutError:
        return False


def posted(hosts: Bare, one: str, two: str) -> bool:
    """Whether a packet that needs no answer gets from one host to the other."""
    words = f"{one}-to-{two}"
    address = hosts.inventory.hosts[two].address
    hosts.on(two, "rm -f /tmp/post")
    for _ in range(3):
        hosts.on(one, f"bash -c 'echo -n {words} >/dev/udp/{address}/7777' 2>/dev/null || true")
    return hosts.on(two, "sleep 0.3; cat /tmp/post 2>/dev/null || true").startswith(words)


ALL = (CLIENT, BROKER, ZOOKEEPER)
CUTS = [
    ("listener(REPLICATION, broker 0), brokers but it", {("node2", "node1", BROKER), ("node3", "node1", BROKER)}),
    ("listener(CLIENT, broker 0), everyone else", {(who, "node1", CLIENT) for who in ("node2", "node3", PROBES)}),
    ("broker 1, zookeepers", {("node2", "node1", ZOOKEEPER)}),
    ("probes, broker 0", {(PROBES, "node1", CLIENT), (PROBES, "node1", BROKER)}),
    ("probes, brokers", {(PROBES, f"node{n}", port) for n in (1, 2, 3) for port in (CLIENT, BROKER)}),
    (
        "broker 0, broker 1",
        {(one, two, port) for one, two in (("node1", "node2"), ("node2", "node1")) for port in (CLIENT, BROKER)},
    ),
    ("host node1, host node2", {(a, b, port) for a, b in (("node1", "node2"), ("node2", "node1")) for port in ALL}),
    ("host node1, host node2, ports: [9093]", {("node1", "node2", BROKER), ("node2", "node1", BROKER)}),
]
"""What is cut, and the ways that are silent then: of all others every one goes on."""


def groups(text: str) -> str:
    """The fields of the step."""
    between, _, more = text.partition(", ports")
    a, _, b = between.rpartition(", ")
    b = {"brokers but it": "[broker 1, broker 2]"}.get(b, b)
    a = f'"{a}"'
    return f"between: [{a}, {b}]{', ports' + more if more else ''}"


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
@pytest.mark.parametrize(("text", "ways"), CUTS, ids=[text for text, _ in CUTS])
def test_only_what_is_meant_is_silent(
    hosts: Bare, tmp_path: Path, firewall: str, text: str, ways: set[tuple[str, str, int]]
) -> None:
    """Of all ways between the hosts, and from the probes, by every port; and afterwards all are whole."""
    entry = Entry.model_validate({"name": "cut", "cut_network": yaml.safe_load(f"{{{groups(text)}}}")})
    inventory = hosts.forced(firewall)
    transport = Ssh(inventory.hosts)
    faults = hosts.faults(transport, tmp_path, 60.0)
    life = faults.inject(aim(entry, inventory, ExampleCluster(inventory), 1, "bare-run"), entry, threading.Event())
    during = silent(hosts)
    faults.end(life)
    transport.close()
    assert during == ways
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert silent(hosts) == set()


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
@pytest.mark.parametrize(("direction", "there", "back"), [("in", True, False), ("out", False, True)])
def test_one_way_is_one_way(
    hosts: Bare, tmp_path: Path, firewall: str, direction: str, *, there: bool, back: bool
) -> None:
    """Packets that need no answer pass the other way; a connection needs both, so there is none at either end."""
    fields = {"between": ["host node1", "host node2"], "direction": direction}
    entry = Entry.model_validate({"name": "cut", "cut_network": fields})
    inventory = hosts.forced(firewall)
    transport = Ssh(inventory.hosts)
    faults = hosts.faults(transport, tmp_path, 60.0)
    assert (posted(hosts, "node1", "node2"), posted(hosts, "node2", "node1")) == (True, True)
    life = faults.inject(aim(entry, inventory, ExampleCluster(inventory), 1, "bare-run"), entry, threading.Event())
    during = (posted(hosts, "node1", "node2"), posted(hosts, "node2", "node1"))
    ways = silent(hosts)
    faults.end(life)
    transport.close()
    assert during == (there, back)
    assert ways == {(a, b, port) for a, b in (("node1", "node2"), ("node2", "node1")) for port in ALL}
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert (posted(hosts, "node1", "node2"), posted(hosts, "node2", "node1")) == (True, True)
