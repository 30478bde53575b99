"""The lab in KRaft mode is a cluster like any other: whole, logged, with Kafka's own tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk import lab
from chaosk.lab import access, namespace_hosts, state

pytestmark = pytest.mark.long

LAB = "run-kraft"


@pytest.mark.lab
def test_it_is_whole_and_says_who_leads(lab_inventory: Path) -> None:
    """Every node serves as a broker and votes as a controller, and exactly one of the three leads."""
    assert lab_inventory.exists()
    found = lab.status(LAB)
    states = sorted(str(one.state) for host in found.hosts for one in host.services)
    assert found.healthy
    assert states == [f"in the cluster, controller: {role}" for role in ("follower", "follower", "leader")]


@pytest.mark.lab
def test_brokers_write_their_log(lab_inventory: Path) -> None:
    """By log4j 2, which Kafka 4 reads: what a broker did is evidence."""
    assert lab_inventory.exists()
    for number in (1, 2, 3):
        text = access.log(LAB, f"node{number}", "broker", 5000)
        assert "Kafka Server started" in text
        assert "[QuorumController id=" in text


@pytest.mark.lab
def test_kafkas_tools_work(lab_inventory: Path) -> None:
    """Main classes that moved between 3.9 and 4 are found, and say nothing but what they are asked."""
    assert lab_inventory.exists()
    hosts = namespace_hosts.NamespaceHosts(state.of(LAB))
    server = ("--bootstrap-server", "198.18.0.11:9092")
    said = hosts.on_host("node1", ["/opt/kafka/bin/kafka-metadata-quorum.sh", *server, "describe", "--status"])
    assert "CurrentObservers:       []" in said
    log = "/var/lib/kafka/__cluster_metadata-0/00000000000000000000.log"
    dumped = hosts.on_host("node1", ["/opt/kafka/bin/kafka-dump-log.sh", "--cluster-metadata-decoder", "--files", log])
    assert dumped.count("REGISTER_BROKER_RECORD") == 3
