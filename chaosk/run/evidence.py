"""Evidence from cluster and hosts that is recorded in addition to the events of probes and watcher."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import structlog

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.snapshot import Snapshot, take
from chaosk.core.errors import ChaoskError, ClusterError, EventLogError
from chaosk.core.parallel import parallel_map
from chaosk.hosts import fingerprint
from chaosk.hosts.transport.clock import Offset, clock
from chaosk.planning.plan import Plan
from chaosk.run.audit.missing import joined, missing, whole
from chaosk.run.audit.ranges import ends, held
from chaosk.run.audit.spec import AuditResult, AuditSpec
from chaosk.run.audit.tail_audit import audit
from chaosk.run.clock_sampling import ClockSampling
from chaosk.run.observation import observe
from chaosk.run.recorder import Recorder
from chaosk.run.replica_logs.replicas import compare
from chaosk.run.replica_logs.transaction_markers import fetch
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.writer_reports import AUDIT, COPIES, HOSTS
from chaosk.rundir.paths import RunDir
from chaosk.spec.contracts.live import Live

log = structlog.get_logger()


class Evidence:
    """Collects evidence through connections that it does not own."""

    def __init__(self, plan: Plan, brokers: Brokers, live: Live, transport: ClockSampling) -> None:
        """Store the connections; no request is sent yet."""
        self._plan = plan
        self._brokers = brokers
        self._live = live
        self._transport = transport
        self.writers: list[str] = []
        """Names of the event streams that it has started."""

    def host_states(self) -> dict[str, str]:
        """Return a fingerprint of each host, as far as faults could change it; hosts without an answer are left out."""

        def ask(host: str) -> str | None:
            try:
                result = self._transport.run(fingerprint.ask(self._plan.inventory, host))
            except ChaoskError as error:
                log.warning("host state", host=host, problem=str(error))
                return None
            return result.stdout if result.ok else None

        hosts = tuple(self._plan.inventory.hosts)
        states = zip(hosts, parallel_map(ask, hosts), strict=True)
        return {host: state for host, state in states if state is not None}

    def audit(self, rundir: RunDir) -> AuditResult:
        """Read every topic from start to end, and the groups' committed offsets; raises ClusterError, EventLogError."""
        scenario = self._plan.scenario
        self.writers.append(AUDIT)
        return audit(
            AuditSpec(
                inventory=self._plan.inventory,
                run_id=self._plan.run_id,
                topics=tuple(scenario.topics),
                groups=scenario.groups,
                folder=str(rundir.live / AUDIT),
            )
        )

    def transacted(self) -> tuple[str, ...]:
        """Return the topics that probes write to in transactions, sorted."""
        return tuple(sorted({topic for probe in self._plan.scenario.probes.values() for topic in probe.transacts()}))

    def markers(self, rundir: RunDir) -> tuple[str, ...]:
        """Fetch the transactions in the logs of those topics; return a line for each incomplete partition."""
        shapes = {topic: self._partitions(topic) for topic in self.transacted()}
        return fetch(self._brokers, self._transport, self._plan.inventory, shapes, self._log(rundir, HOSTS))

    def _partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic, or the planned number if no broker answers."""
        try:
            return len(self._brokers.partitions(topic))
        except ClusterError:
            return self._plan.scenario.topics[topic].partitions

    def copies(self, rundir: RunDir) -> tuple[str, ...]:
        """Compare the replicas at the offsets that the audit missed; return a line for each difference or unknown.

        Compares everything that the topics hold if the scenario bounds ``differing_replicas``.
        """
        scenario = self._plan.scenario
        kept = [name for name, topic in scenario.topics.items() if not topic.compacted]
        found = missing(rundir, kept)
        if scenario.expect.compares_replicas:
            found = joined((*found, *whole(rundir, kept)))
        if not found:
            return ()
        return compare(self._brokers, self._transport, self._plan.inventory, found, self._log(rundir, COPIES))

    def _log(self, rundir: RunDir, writer: str) -> LiveLog:
        self.writers.append(writer)
        return LiveLog(rundir.live / writer, self._plan.run_id)

    def ends(self) -> dict[str, tuple[int, ...]]:
        """Return the partitions' ends by topic of the scenario; a topic with an uncertain end is left out."""
        return ends(self._brokers, self._plan.scenario.topics)

    def held(self) -> dict[tuple[str, int], int | None] | None:
        """Return the last stable offsets below the high watermark, of partitions with transactions of the probes.

        None: unknown, because a leader, or the cluster, does not answer.
        """
        return held(self._brokers, self.transacted())

    def snapshot(self, path: Path) -> None:
        """Write the state of topics, brokers and ZooKeeper; for a cluster that does not answer, the error."""
        self._write(path, lambda: take(self._brokers, self._live, self._plan.scenario.topics))

    def observe(self, path: Path) -> None:
        """Write the same, with logs, coordinators and settings of topics."""
        self._write(path, lambda: observe(self._brokers, self._live, self._plan.scenario))

    def _write(self, path: Path, look: Callable[[], Snapshot]) -> None:
        try:
            text = look().model_dump_json(indent=2)
        except ChaoskError as error:
            text = json.dumps({"error": str(error)})
        try:
            path.write_text(text + "\n", "utf-8")
        except OSError as error:
            raise EventLogError(f"{path}: cannot be written: {error.strerror}") from error

    def tell_clocks(self, recorder: Recorder | None) -> None:
        """Record the clock offset in every answer of a host from now on; None to end that."""

        def tell(found: Offset) -> None:
            if recorder is not None:
                recorder.write("host_clocks", (found.host, found.at, found.offset, found.error))

        self._transport.tell = tell if recorder is not None else None

    def measure_clocks(self, recorder: Recorder) -> None:
        """Record each host's clock offset; a host that does not answer has no row."""
        recorder.clock()
        for host in self._plan.inventory.hosts:
            try:
                found = clock(self._transport, host)
            except ChaoskError as error:
                log.warning("clock", host=host, problem=str(error))
                continue
            recorder.write("host_clocks", (host, found.at, found.offset, found.error))
