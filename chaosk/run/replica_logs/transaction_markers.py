"""Records the transactions in the logs of some topics, read on the leaders' hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaosk.cluster.brokers import Brokers
from chaosk.core.errors import ChaoskError, ClusterError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.commands import dump
from chaosk.hosts.transport._contract import Transport
from chaosk.run.audit.ranges import AuditRange, ranges
from chaosk.run.replica_logs import dump_request
from chaosk.run.replica_logs.dump_request import NOBODY
from chaosk.run.replica_logs.parse import DumpAnswer, DumpedLog
from chaosk.rundir.events.live import LiveLog
from chaosk.spec.inventory import Inventory


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One partition, with its leader and the offsets to read."""

    range: AuditRange
    broker: int

    @property
    def name(self) -> str:
        return f"{self.range.topic}-{self.range.partition}"


def fetch(
    brokers: Brokers, transport: Transport, inventory: Inventory, topics: Mapping[str, int], log: LiveLog
) -> tuple[str, ...]:
    """Fetch the transactions of topics (numbers of partitions by name) into an event log, and close it.

    Returns a line for each incomplete partition, which is also in ``dumps``: a missing answer is no error. Raises
    EventLogError if the events cannot be written.
    """
    with log as events:
        try:
            wanted = _wanted(brokers, topics)
        except ClusterError as error:
            missing = [_Wanted(AuditRange(topic, n), NOBODY) for topic, count in topics.items() for n in range(count)]
            return _written(events, missing, DumpAnswer({}, str(error)))
        by_broker: dict[int, list[_Wanted]] = {}
        for one in wanted:
            by_broker.setdefault(one.broker, []).append(one)

        def ask(broker: int) -> DumpAnswer:
            try:
                names = [one.name for one in by_broker[broker]]
                return dump_request.ask(transport, inventory, broker, lambda kafka, at: dump.markers(kafka, at, names))
            except ChaoskError as error:
                return DumpAnswer({}, str(error))

        answers = zip(by_broker, parallel_map(ask, list(by_broker)), strict=True)
        lines = (_written(events, by_broker[broker], said) for broker, said in answers)
        return tuple(line for some in lines for line in some)


def _wanted(brokers: Brokers, topics: Iterable[str]) -> list[_Wanted]:
    led = {(one.topic, one.partition): one.leader for topic in topics for one in brokers.partitions(topic)}
    return [_Wanted(one, led.get((one.topic, one.partition), NOBODY)) for one in ranges(brokers, topics)]


def _written(events: LiveLog, wanted: Iterable[_Wanted], said: DumpAnswer) -> tuple[str, ...]:
    """Record the answers for some partitions; return a line for each incomplete one."""
    lines = []
    for one in wanted:
        place = (one.range.topic, one.range.partition)
        found = said.log(one.name)
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


def _lacks(wanted: AuditRange, found: DumpedLog) -> str | None:
    """Return the reason why a log was not read from its start to its end; None if it was."""
    if found.trouble is not None or wanted.why is not None:
        return found.trouble or wanted.why
    if found.first is None or found.first > wanted.log_start:
        return f"its segments begin at {found.first}, and the log at {wanted.log_start}"
    if (found.end or 0) < wanted.high_watermark:
        return f"its segments end at {found.end}, and the log at {wanted.high_watermark}"
    return None
