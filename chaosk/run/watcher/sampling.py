"""Samplers: one thread for each broker and ZooKeeper node, and one for the quorum, with independent schedules."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chaosk.cluster.configs import topic_settings, topics_request
from chaosk.cluster.offsets import offsets_requests, replica_offsets
from chaosk.cluster.quorum import Quorum, quorum, quorum_request
from chaosk.cluster.views import NO_EPOCH, ClusterView, metadata_request, view
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer
from chaosk.cluster.zookeeper import ask_mode
from chaosk.core.errors import ClusterError

BROKER_PERIOD = 0.15
"""Seconds between two samples of a broker: 6.7 a second, so that 5 remain if some take longer."""
ZOOKEEPER_PERIOD = 1.0
"""Seconds between two samples of a ZooKeeper node."""
QUORUM_PERIOD = 1.0
"""Seconds between two samples of the quorum."""
SETTINGS_PERIOD = 1.0
"""Seconds between two samples of the topics' settings."""
SETTINGS = (
    "cleanup.policy", "retention.ms", "retention.bytes", "segment.ms", "segment.bytes", "min.insync.replicas",
    "unclean.leader.election.enable", "message.timestamp.type", "segment.jitter.ms", "max.compaction.lag.ms",
)  # fmt: skip
"""Settings of topics that decide if records may be lost or deleted."""


class RowSink(Protocol):
    """Sink of samples: rows are tuples in the table's column order, from any thread."""

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Append one row."""
        ...


class Sampler(threading.Thread, ABC):
    """Takes samples at a fixed rate until it is told to stop; a sample that takes too long makes it skip some."""

    def __init__(self, name: str, period: float, log: RowSink, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self._period = period
        self._log = log
        self._stop_event = stop

    def run(self) -> None:
        """Take samples until told to stop."""
        due = time.monotonic()
        while not self._stop_event.is_set():
            self.sample()
            due = max(due + self._period, time.monotonic())
            self._stop_event.wait(due - time.monotonic())

    @abstractmethod
    def sample(self) -> None:
        """Take one sample and write its rows."""


@dataclass(frozen=True, slots=True)
class About:
    """The parameters of a broker's samples."""

    topics: Sequence[str]
    others: bool = False
    """True to sample all other topics too; these are only in :attr:`BrokerSampler.latest`."""
    kraft: bool = False
    """True if the cluster is in KRaft mode."""


class BrokerSampler(Sampler):
    """Samples one broker: its view of the cluster, and the offsets of its own replicas."""

    def __init__(
        self, broker: int, place: Endpoint, about: About, log: RowSink, stop: threading.Event,
    ) -> None:  # fmt: skip
        super().__init__(str(place), BROKER_PERIOD, log, stop)
        self._broker = broker
        self._topics = about.topics
        self._kraft = about.kraft
        self._asked = None if about.others else about.topics
        self._link = BrokerConnection(place)
        self.latest: ClusterView | None = None
        """Its last view; None if it did not answer."""

    def sample(self) -> None:
        """Write rows of ``brokers``, ``partitions`` and ``offsets``, or one row with the error."""
        invoked = time.monotonic_ns()
        try:
            said = view(self._broker, self._link.ask(metadata_request(self._asked))[0], kraft=self._kraft)
        except ClusterError as error:
            self.latest = None
            self._log.write("brokers", (self._broker, invoked, time.monotonic_ns(), None, None, str(error)))
            return
        self.latest = said
        watched = replace(said, partitions=tuple(one for one in said.partitions if one.topic in self._topics))
        self._write_view(watched, invoked, time.monotonic_ns())
        self._sample_offsets(watched)

    def _write_view(self, said: ClusterView, invoked: int, at: int) -> None:
        controller = None if said.kraft else -1 if said.controller is None else said.controller
        self._log.write("brokers", (self._broker, invoked, at, controller, list(said.alive), None))
        for one in said.partitions:
            epoch = None if one.leader_epoch == NO_EPOCH else one.leader_epoch
            row = (at, self._broker, one.topic, one.partition, one.leader, epoch, list(one.replicas), list(one.isr))
            self._log.write("partitions", row)

    def _sample_offsets(self, said: ClusterView) -> None:
        own: dict[str, list[int]] = {}
        for one in said.partitions:
            if self._broker in one.replicas:
                own.setdefault(one.topic, []).append(one.partition)
        if not own:
            return
        try:
            answers = self._link.ask(*offsets_requests(own))
        except NoAnswer:
            return  # the next sample reports the reason; without rows no offsets are judged
        at = time.monotonic_ns()
        for each in replica_offsets(answers):
            place: tuple[Any, ...] = (at, self._broker, each.topic, each.partition, each.leader)
            self._log.write("offsets", (*place, each.log_start, each.high_watermark, each.last_stable, each.log_end))


class ZooKeeperSampler(Sampler):
    """Samples the role of one ZooKeeper node."""

    def __init__(self, node: int, place: Endpoint, log: RowSink, stop: threading.Event) -> None:
        super().__init__(str(place), ZOOKEEPER_PERIOD, log, stop)
        self._node = node
        self._place = place
        self.latest: str | None = None
        """Its mode; None if it does not serve."""

    def sample(self) -> None:
        """Write one row of ``zookeepers``."""
        mode, why = None, None
        try:
            mode = ask_mode(self._place)
        except NoAnswer as error:
            why = str(error)
        self.latest = mode
        self._log.write("zookeepers", (self._node, time.monotonic_ns(), mode, why))


class SettingsSampler(Sampler):
    """Samples the topics' settings, and records changes: settings decide on the deletion of records."""

    def __init__(self, places: Iterable[Endpoint], topics: Sequence[str], log: RowSink, stop: threading.Event) -> None:
        super().__init__("settings", SETTINGS_PERIOD, log, stop)
        self._links = deque(BrokerConnection(place, patient=True) for place in places)
        self._topics = topics
        self._known: dict[tuple[str, str], str] = {}

    def sample(self) -> None:
        """Write rows of ``topic_settings`` for changed values."""
        for _ in range(len(self._links)):
            try:
                said = topic_settings(self._links[0].ask(topics_request(self._topics, SETTINGS))[0])
            except NoAnswer:
                self._links.rotate(-1)
                continue
            at = time.monotonic_ns()
            for (topic, name), value in sorted(said.items()):
                if self._known.get((topic, name)) != value:
                    self._known[topic, name] = value
                    self._log.write("topic_settings", (at, topic, name, value))
            return


class QuorumSampler(Sampler):
    """Samples the quorum of controllers, through a broker that reaches its leader."""

    def __init__(self, places: Iterable[Endpoint], log: RowSink, stop: threading.Event) -> None:
        super().__init__("quorum", QUORUM_PERIOD, log, stop)
        self._links = deque(BrokerConnection(place) for place in places)
        self._epoch = 0
        self._voters: tuple[int, ...] = ()
        self.latest: Quorum | None = None
        """The leader's last answer; None if no broker reaches one."""

    def sample(self) -> None:
        """Write a row of ``quorum`` for each known controller."""
        self.latest = self._asked()
        if self.latest is not None:
            self._voters = tuple(self.latest.roles)
        at, epoch = time.monotonic_ns(), None if self.latest is None else self.latest.epoch
        for node in self._voters:
            self._log.write("quorum", (node, at, None if self.latest is None else self.latest.roles[node], epoch))

    def _asked(self) -> Quorum | None:
        """Return the leader's answer; the broker that reached it is tried first the next time."""
        for _ in range(len(self._links)):
            try:
                found = quorum(self._links[0].ask(quorum_request())[0])
            except NoAnswer:
                found = None
            if found is not None and found.epoch >= self._epoch:  # else a deposed leader
                self._epoch = found.epoch
                return found
            self._links.rotate(-1)
        return None
