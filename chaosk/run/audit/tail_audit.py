"""The whole audit: ranges, both readers at once, committed offsets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.committed_offsets import committed
from chaosk.core.errors import ClusterError
from chaosk.core.parallel import parallel_map
from chaosk.run.audit.ranges import AuditRange, ranges
from chaosk.run.audit.reader import AuditReader
from chaosk.run.audit.spec import AuditResult, AuditSpec
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.payload import Decoder

ISOLATIONS = ("read_uncommitted", "read_committed")


def audit(spec: AuditSpec) -> AuditResult:
    """Read every topic of a spec to its end and record its content.

    Anything unreadable is listed in the result and in ``audit_ranges``, never left out. Raises ClusterError if no
    broker answers or a topic is gone, EventLogError if the events cannot be written.
    """
    began = time.monotonic()
    settings = client_settings(spec.inventory)
    with LiveLog(Path(spec.folder), spec.run_id) as log, Brokers(spec.inventory, settings) as brokers:
        todo = ranges(brokers, spec.topics)
        readers = [AuditReader(settings, isolation, Decoder(spec.run_id), log) for isolation in ISOLATIONS]
        incomplete = parallel_map(lambda reader: reader.read(todo, spec.patience), readers)
        silent = [line for group in spec.groups for line in _write_group(brokers, log, group, todo)]
    lines = (*(line for lines in incomplete for line in lines), *silent)
    return AuditResult(
        records=sum(reader.records for reader in readers),
        complete=not lines,
        incomplete=lines,
        seconds=round(time.monotonic() - began, 3),
    )


def _write_group(brokers: Brokers, log: LiveLog, group: str, todo: Sequence[AuditRange]) -> list[str]:
    """Record the committed offsets of a group; return a line if its coordinator does not answer."""
    asked: dict[str, list[int]] = {}
    for one in todo:
        asked.setdefault(one.topic, []).append(one.partition)
    try:
        found = committed(brokers, group, asked)
    except ClusterError as error:
        return [str(error)]
    for each in found:
        log.write("groups", (group, each.topic, each.partition, each.offset))
    return []
