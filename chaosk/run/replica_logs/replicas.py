"""Records the comparison of all replicas of some partitions at some offsets."""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.cluster.brokers import Brokers
from chaosk.core.errors import ChaoskError, ClusterError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.commands import dump
from chaosk.hosts.transport._contract import Transport
from chaosk.run.audit.missing import MissingOffsets
from chaosk.run.replica_logs.copies import copies
from chaosk.run.replica_logs.dump_request import ask
from chaosk.run.replica_logs.parse import DumpAnswer
from chaosk.rundir.events.live import LiveLog
from chaosk.spec.inventory import Inventory


def compare(
    brokers: Brokers, transport: Transport, inventory: Inventory, stretches: Sequence[MissingOffsets], log: LiveLog
) -> tuple[str, ...]:
    """Compare replicas at some offsets, write the table ``copies`` into a log, and close it.

    Returns a line for each partition without a result, with the reason, and for each range that differs: a missing
    answer is no error. Raises EventLogError if the events cannot be written.
    """
    having = _replicas(brokers, stretches)
    asked = sorted({broker for some in having.values() for broker in some})

    def said(broker: int) -> DumpAnswer:
        wanted = [f"{_name(one)}:{one.first}:{one.last}" for one in stretches if broker in having[one]]
        try:
            return ask(transport, inventory, broker, lambda kafka, where: dump.batches(kafka, where, wanted))
        except ChaoskError as error:
            return DumpAnswer({}, str(error))

    answers = dict(zip(asked, parallel_map(said, asked), strict=True))
    lines = []
    with log as events:
        for one in stretches:
            for found in copies(one.first, one.last, {each: answers[each].log(_name(one)) for each in having[one]}):
                events.write("copies", (one.topic, one.partition, *found))
                if found.same is None:
                    lines.append(f"{_name(one)}: {found.why}")
                elif not found.same:
                    lines.append(f"{_name(one)}, {found.first} to {found.last}: the replicas differ: {found.held}")
    return tuple(lines)


def _replicas(brokers: Brokers, stretches: Sequence[MissingOffsets]) -> dict[MissingOffsets, tuple[int, ...]]:
    """Return the brokers with a replica of each stretch; none if the cluster does not answer."""
    try:
        states = [one for topic in {one.topic for one in stretches} for one in brokers.partitions(topic)]
    except ClusterError:
        states = []
    found = {(one.topic, one.partition): one.replicas for one in states}
    return {one: found.get((one.topic, one.partition), ()) for one in stretches}


def _name(one: MissingOffsets) -> str:
    return f"{one.topic}-{one.partition}"
