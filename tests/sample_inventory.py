"""A cluster on paper: three hosts, a broker and a ZooKeeper node on each."""

from __future__ import annotations

from chaosk.spec.inventory import Inventory


def _service(name: str) -> dict[str, object]:
    return {"start": [f"/opt/{name}-start"], "stop": [f"/opt/{name}-stop"], "pid_file": f"/run/{name}.pid"}


def on_hosts(*addresses: str) -> Inventory:
    """Hosts node1.. at these addresses; brokers 0.. with two listeners and ZooKeeper nodes 1.. on them."""
    brokers = {
        number: {
            "host": f"node{number + 1}",
            "service": _service("kafka"),
            "config": "/etc/kafka/server.properties",
            "data": ["/var/lib/kafka", "/mnt/more"],
            "installation": {
                "link": "/opt/kafka",
                "versions": {"3.9.1": "/opt/kafka-3.9.1", "3.9.2": "/opt/kafka-3.9.2"},
            },
            "listeners": {
                "CLIENT": {"address": address, "port": 9092},
                "REPLICATION": {"address": address, "port": 9093, "clients": False},
            },
        }
        for number, address in enumerate(addresses)
    }
    numbers = range(1, len(addresses) + 1)
    zookeepers = {number: {"host": f"node{number}", "service": _service("zookeeper")} for number in numbers}
    hosts = {f"node{number}": {"address": address} for number, address in enumerate(addresses, 1)}
    return Inventory.model_validate({"name": "lab", "hosts": hosts, "brokers": brokers, "zookeepers": zookeepers})


INVENTORY = on_hosts("198.18.0.11", "198.18.0.12", "198.18.0.13")
"""The usual one."""


LOGIN: dict[str, str | int | bool] = {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"}


def secured(inventory: Inventory, **more: object) -> Inventory:
    """The cluster with a login for chaosk and one for the probes."""
    kafka = inventory.kafka.model_copy(update={"client_config": "/etc/client"})
    logins = {"client": LOGIN, "probe_client": {"sasl.username": "probes"}, "kafka": kafka}
    return inventory.model_copy(update={**logins, **more})
