"""The leaders of some topics' partitions asked for the transactions in their logs, and what they say written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from chaosk.audit.ranges import Range, ranges
from chaosk.cluster.brokers import Brokers
from chaosk.dump import command
from chaosk.dump.said import Log, Said, read
from chaosk.errors import ChaoskError, ClusterError, StepError
from chaosk.eventlog import LiveLog
from chaosk.inventory import Broker, Inventory
from chaosk.together import together
from chaosk.transport._contract import Transport
from chaosk.transport.wrap import TIMED_OUT

log = structlog.get_logger()
NOBODY = -1
"""In place of a broker where none leads."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One partition, where its leader has to be read from and to."""

    range: Range
    broker: int

    @property
    def name(self) -> str:
        return f"{self.range.topic}-{self.range.partition}"


def fetch(
    brokers: Brokers, transport: Transport, inventory: Inventory, topics: Mapping[str, int], folder: Path
) -> tuple[str, ...]:
    """Fetch the transactions of topics (their numbers of partitions by name) into an event log in ``folder``.

    A line for each partition of which something is missing, which ``dumps`` says as well: what a host or the cluster
    does not tell is no error. Raises EventLogError if the events cannot be written.
    """
    with LiveLog(folder) as events:
        try:
            wanted = _wanted(brokers, topics)
        except ClusterError as error:
            missing = [_Wanted(Range(topic, n), NOBODY) for topic, count in topics.items() for n in range(count)]
            return _written(events, missing, Said({}, str(error)))
        by_broker: dict[int, list[_Wanted]] = {}
        for one in wanted:
            by_broker.setdefault(one.broker, []).append(one)

        def ask(broker: int) -> Said:
            try:
                return _ask(transport, inventory, broker, [one.name for one in by_broker[broker]])
            except ChaoskError as error:
                return Said({}, str(error))

        answers = zip(by_broker, together(ask, list(by_broker)), strict=True)
        lines = (_written(events, by_broker[broker], said) for broker, said in answers)
        return tuple(line for some in lines for line in some)


def _wanted(brokers: Brokers, topics: Iterable[str]) -> list[_Wanted]:
    led = {(one.topic, one.partition): one.leader for topic in topics for one in brokers.partitions(topic)}
    return [_Wanted(one, led.get((one.topic, one.partition), NOBODY)) for one in ranges(brokers, topics)]


def _ask(transport: Transport, inventory: Inventory, number: int, names: Sequence[str]) -> Said:
    broker = _reachable(inventory, number)
    result = transport.run(command.markers(inventory.kafka, broker, names))
    log.info("dump", host=broker.host, status=result.exit_status, stderr=result.stderr[-500:])
    said = read(broker.host, result.stdout)
    reason = next((line.strip() for line in reversed(result.stderr.splitlines()) if line.strip()), "")
    if result.exit_status == TIMED_OUT:
        reason = f"not done within {command.PATIENCE:g} s"
    if said.stopped is None or not reason:
        return said
    return replace(said, stopped=f"{broker.host}: {said.stopped}: {reason}")


def _reachable(inventory: Inventory, number: int) -> Broker:
    """The broker, if its host can be asked for its logs; raises StepError with what to do."""
    if number == NOBODY:
        raise StepError("no broker leads it")
    broker = inventory.brokers.get(number)
    if broker is None:
        raise StepError(f"broker {number}: the inventory has no such broker")
    if not broker.data:
        raise StepError(f"broker {number}: write its log.dirs to `data` in the inventory, so that its logs are found")
    return broker


def _written(events: LiveLog, wanted: Iterable[_Wanted], said: Said) -> tuple[str, ...]:
    """Write down what was said of some partitions; a line for each of which that is not all."""
    lines = []
    for one in wanted:
        place = (one.range.topic, one.range.partition)
        found = said.logs.get(one.name) or Log(one.name, trouble=said.stopped or "its host says nothing of it")
        for marker in found.markers:
            events.write("markers", (*place, *marker))
        for each in found.stretches:
            row = (each.first, each.last, each.producer_id, each.producer_epoch, each.marker)
            events.write("stretches", (*place, *row))
        why = _lacks(one.range, found)
        events.write("dumps", (*place, one.broker, found.first, found.end, why is None, why))
        if why is not None:
            lines.append(f"{one.name}: {why}")
    return tuple(lines)


def _lacks(wanted: Range, found: Log) -> str | None:
    """Why a log was not read from its start to its end."""
    if found.trouble is not None or wanted.why is not None:
        return found.trouble or wanted.why
    if found.first is None or found.first > wanted.log_start:
        return f"its segments begin at {found.first}, and the log at {wanted.log_start}"
    if (found.end or 0) < wanted.high_watermark:
        return f"its segments end at {found.end}, and the log at {wanted.high_watermark}"
    return None
