"""Commands that read the logs of partitions on a broker's host. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Kafka

PATIENCE = 120.0
"""Time-out in seconds for reading the logs of one broker: some ten million records."""


def markers(kafka: Kafka, broker: Broker, logs: Iterable[str]) -> Command:
    """Print the transactions in logs, such as ``orders-0``; the broker has to have data directories."""
    return _ask("markers", kafka, broker, logs)


def batches(kafka: Kafka, broker: Broker, stretches: Iterable[str]) -> Command:
    """Print the batches that hold a range of offsets, such as ``orders-0:100:250``, inclusive."""
    return _ask("batches", kafka, broker, stretches)


def _ask(action: str, kafka: Kafka, broker: Broker, logs: Iterable[str]) -> Command:
    words = (action, kafka.home, ",".join(broker.data), *logs)
    # a separate session, so that renewals of the cluster lock are not delayed
    return script_command(broker.host, "dump", *words, timeout=PATIENCE, alone=True)
