"""Packets that are lost by chance, on hosts without Kafka, under real leases."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bare_hosts import Bare, bare

from chaosk.core.errors import PreflightError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.resolve import freeze
from chaosk.run.preflight.diagnostic import refuse
from chaosk.run.preflight.examination import hosts_fit
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.contracts.target import Node
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120), pytest.mark.long]

SENT = 2_000
SENDS = f"""
import socket, sys, time
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range({SENT}):
    line.sendto(b"x", (sys.argv[1], 7777))
    if number % 50 == 0:
        time.sleep(0.005)
"""
COUNTS = """
import socket
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
line.bind(("", 7777))
while True:
    line.recv(10)
    with open("/tmp/came", "ab") as file:
        file.write(b"x")
"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts, each of which counts what it is sent, and has used iptables: its table, once made, stays, empty."""
    with bare("losses", 3) as here:
        for host in here.inventory.hosts:
            here.on(host, "iptables -P INPUT ACCEPT")
            here.on(host, f": >/tmp/came; setsid python3 -c '{COUNTS}' </dev/null >/dev/null 2>&1 & sleep 1")
        yield here


def lost(hosts: Bare, one: str, two: str) -> float:
    """The share of datagrams from one host that do not arrive at another."""
    hosts.on(two, ": >/tmp/came")
    hosts.on(one, f"python3 -c '{SENDS}' {hosts.inventory.hosts[two].address}")
    last = -1
    while last != (came := int(hosts.on(two, "sleep 0.3; stat -c %s /tmp/came"))):
        last = came
    return 1 - came / SENT


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
def test_a_share_is_lost_and_nothing_else(hosts: Bare, tmp_path: Path, firewall: str) -> None:
    """Of what comes from the one about as much as was asked for, none of what goes there, none on any other way."""
    assert lost(hosts, "node1", "node2") == 0
    inventory = hosts.forced(firewall)
    fields = yaml.safe_load("{between: [host node2, host node1], share: 25 %, direction: in}")
    entry = Entry.model_validate({"name": "loss", "lose_packets": fields})
    aims = {f"host {name}": (Node(kind="host", id=name, host=name),) for name in ("node1", "node2")}
    transport = Ssh(hosts.inventory.hosts)
    before = [hosts.firewall(host) for host in hosts.inventory.hosts]
    faults = hosts.faults(transport, tmp_path, 30.0)
    life = faults.inject(freeze(entry, inventory, aims, "bare-run"), entry, threading.Event())
    during = lost(hosts, "node1", "node2")
    spared = [lost(hosts, *way) for way in (("node2", "node1"), ("node3", "node2"), ("node1", "node3"))]
    faults.end(life)
    transport.close()
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert 0.20 < during < 0.30, "25 %: five standard deviations of 2,000 draws are 4.8 %"
    assert spared == [0, 0, 0]
    assert lost(hosts, "node1", "node2") == 0
    assert [hosts.firewall(host) for host in hosts.inventory.hosts] == before


def test_a_host_whose_filter_cannot_draw_is_told_before_the_run(hosts: Bare) -> None:
    """Iptables there refuses the match, as where the module is not installed; another host's can."""
    hosts.on(
        "node2",
        "mv /usr/sbin/iptables /usr/sbin/iptables.kept && printf '%s\\n' '#!/bin/sh' "
        '\'case "$*" in *statistic*) echo "Couldn\'"\'"\'t load match" >&2; exit 2 ;; esac\' '
        "'exec iptables.kept \"$@\"' >/usr/sbin/iptables && chmod 755 /usr/sbin/iptables",
    )
    transport = Ssh(hosts.inventory.hosts)
    lossy, inventory = HostRequirements(("awk",), cuts=True, losses=True), hosts.forced("iptables")
    try:
        found = hosts_fit(transport, inventory, lossy, thorough=False)
        with pytest.raises(PreflightError, match=r"node2: kernel .* no iptables -m statistic, which a step"):
            refuse(found)
        assert [one.where for one in found if one.state == "bad" and "statistic" in one.seen] == ["node2"]
    finally:
        transport.close()
        hosts.on("node2", "mv /usr/sbin/iptables.kept /usr/sbin/iptables")
