"""What a broker's host is asked about the logs of some partitions. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.inventory import Broker, Kafka
from chaosk.scripts import script
from chaosk.transport.command import Command

PATIENCE = 120.0
"""Seconds that reading the logs of one broker may take: some ten million records."""


def markers(kafka: Kafka, broker: Broker, logs: Iterable[str]) -> Command:
    """Ask for the transactions in logs, named like ``orders-0``; the broker has data directories."""
    words = ("markers", *places(kafka, broker), *logs)
    argv = ("sh", "-c", script("dump"), "chaosk", *words)
    # a session of its own: the lock on the cluster is renewed meanwhile
    return Command(host=broker.host, argv=argv, sudo=True, alone=True, timeout=PATIENCE, repeatable=True)


def places(kafka: Kafka, broker: Broker) -> tuple[str, str]:
    """Where Kafka and its data are on a broker's host, as the script takes it."""
    return kafka.home, ",".join(broker.data)
