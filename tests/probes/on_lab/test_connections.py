"""Clients' connections as their statistics tell of them, held against the kernel's own list."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.elect import elect
from chaosk.core.errors import ChaoskError
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.probes.worker.process import ProbeProcess
from chaosk.spec.contracts.step import Elect

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]
Sockets = Counter[str]
"""By broker's address how many connections."""


def reader(topic: str, **config: Any) -> Consume:
    """A member of a group whose connections are watched."""
    return Consume.model_validate({"topic": topic, "group": f"{topic}-group", "connections": True, "config": config})


def writer(topic: str) -> Produce:
    """300 records a second, connections watched."""
    fields = {"topic": topic, "rate": "300/s", "connections": True}
    return Produce.model_validate({**fields, "config": {"acks": "all", "enable.idempotence": True}})


def by_kernel(process: ProbeProcess) -> Sockets:
    """The established TCP connections of a process, as `ss` lists them in the client's namespace."""
    listed = subprocess.run(["ss", "-Htnp", "state", "established"], capture_output=True, text=True, check=True).stdout
    mine = (line.split() for line in listed.splitlines() if f"pid={process.pid}," in line)
    return Counter(columns[3] for columns in mine)


def by_events(rows: list[dict[str, Any]]) -> Sockets:
    """The connections that are open by the table ``connections``."""
    count: Sockets = Counter()
    for row in rows:
        count[row["address"]] += {"opened": 1, "closed": -1, "failed": 0}[row["event"]] * row["count"]
    return count


def agree(cluster: Cluster, processes: dict[str, ProbeProcess], holds: Callable[[Sockets], bool]) -> None:
    """Wait until the table of each probe says what the kernel says, and that is what is wanted."""
    end = time.monotonic() + 60
    while True:
        said = {name: +by_events(cluster.rows("connections", name)) for name in processes}
        seen = {name: by_kernel(process) for name, process in processes.items()}
        if said == seen and all(holds(sockets) for sockets in seen.values()):
            return
        assert time.monotonic() < end, f"events: {said}, kernel: {seen}"
        time.sleep(0.1)


def leads_again(cluster: Cluster, topic: str, partition: int) -> None:
    """Have the preferred leader of a partition lead it again: until then nobody needs to connect to that broker."""
    end = time.monotonic() + 60
    with Brokers(cluster.inventory, client_settings(cluster.inventory)) as brokers:
        while cluster.leaders(topic)[partition] != partition:
            assert time.monotonic() < end, cluster.leaders(topic)
            with suppress(ChaoskError):
                elect(brokers, Elect(topic=topic, partitions=(partition,), election="preferred"))
            time.sleep(0.5)


def test_the_table_is_what_the_kernel_lists(cluster: Cluster) -> None:
    """A consumer's and a producer's connections by broker, when both are steady, and by role."""
    topic = cluster.topic(partitions=3)
    processes = {"writer": cluster.start(writer(topic), "writer"), "reader": cluster.start(reader(topic), "reader")}
    for process in processes.values():
        until(process, lambda state: state.ok > 300)
    places = {f"{host}:{port}" for host, port in cluster.inventory.client_addresses().values()}
    agree(cluster, processes, lambda sockets: set(sockets) == places)
    rows = cluster.rows("connections", "reader")
    roles = Counter(row["role"] for row in rows if row["event"] == "opened")
    assert (roles["bootstrap"], roles["group_coordinator"]) == (1, 1)
    coordinator = cluster.coordinator(f"{topic}-group")
    assert {row["broker"] for row in rows if row["role"] == "group_coordinator"} == {coordinator}
    for process in processes.values():
        assert process.stop(30) == 0


def test_a_killed_broker_s_connections_close_and_come_back(cluster: Cluster) -> None:
    """SIGKILL of a broker: what was open to it closes and attempts fail; once it is back, it is connected to again."""
    topic = cluster.topic(partitions=3)
    processes = {"writer": cluster.start(writer(topic), "writer"), "reader": cluster.start(reader(topic), "reader")}
    for process in processes.values():
        until(process, lambda state: state.ok > 300)
    addresses = {broker: f"{host}:{port}" for broker, (host, port) in cluster.inventory.client_addresses().items()}
    agree(cluster, processes, lambda sockets: set(sockets) == set(addresses.values()))
    cluster.signal(2, "KILL")
    agree(cluster, processes, lambda sockets: set(sockets) == {addresses[0], addresses[1]})
    cluster.missed(2)
    cluster.revive(2)
    leads_again(cluster, topic, 2)
    agree(cluster, processes, lambda sockets: addresses[2] in sockets)
    for name, process in processes.items():
        assert process.stop(30) == 0
        rows = [row for row in cluster.rows("connections", name) if row["address"] == addresses[2]]
        events = Counter(row["event"] for row in rows)
        assert events["closed"] >= 1
        assert events["failed"] >= 1
        assert events["opened"] >= 2
