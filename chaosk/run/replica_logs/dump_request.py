"""Sends a request about log files to one broker's host, and parses its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import structlog

from chaosk.core.errors import StepError
from chaosk.hosts.commands import dump
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.wrap import TIMED_OUT
from chaosk.run.replica_logs.parse import DumpAnswer, read
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Inventory, Kafka

log = structlog.get_logger()
NOBODY = -1
"""Broker number for a partition without a leader."""


def ask(
    transport: Transport, inventory: Inventory, number: int, question: Callable[[Kafka, Broker], Command]
) -> DumpAnswer:
    """Return the answer of a broker's host; raises StepError, or an error of the transport, without an answer."""
    broker = _reachable(inventory, number)
    result = transport.run(question(inventory.kafka, broker))
    log.info("dump", host=broker.host, status=result.exit_status, stderr=result.stderr[-500:])
    said = read(broker.host, result.stdout)
    reason = next((line.strip() for line in reversed(result.stderr.splitlines()) if line.strip()), "")
    if result.exit_status == TIMED_OUT:
        reason = f"not done within {dump.PATIENCE:g} s"
    if said.stopped is None or not reason:
        return said
    return replace(said, stopped=f"{broker.host}: {said.stopped}: {reason}")


def _reachable(inventory: Inventory, number: int) -> Broker:
    """Return the broker, if its logs can be read; raises StepError with the remedy."""
    if number == NOBODY:
        raise StepError("no broker leads it")
    broker = inventory.brokers.get(number)
    if broker is None:
        raise StepError(f"broker {number}: the inventory has no such broker")
    if not broker.data:
        raise StepError(f"broker {number}: write its log.dirs to `data` in the inventory, so that its logs are found")
    return broker
