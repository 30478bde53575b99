"""What a broker's host is asked about the logs of some partitions. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Kafka

PATIENCE = 120.0
"""Seconds that reading the logs of one broker may take: some ten million records."""


def markers(kafka: Kafka, broker: Broker, logs: Iterable[str]) -> Command:
    """Ask for the transactions in logs, named like ``orders-0``; the broker has data directories."""
    return _ask("markers", kafka, broker, logs)


def batches(kafka: Kafka, broker: Broker, stretches: Iterable[str]) -> Command:
    """Ask for the batches that hold some offsets, each stretch named like ``orders-0:100:250``, both ends included."""
    return _ask("batches", kafka, broker, stretches)


def _ask(action: str, kafka: Kafka, broker: Broker, logs: Iterable[str]) -> Command:
    words = (action, kafka.home, ",".join(broker.data), *logs)
    argv = ("sh", "-c", script("dump"), "chaosk", *words)
    # a session of its own: the lock on the cluster is renewed meanwhile
    return Command(host=broker.host, argv=argv, sudo=True, alone=True, timeout=PATIENCE, repeatable=True)
