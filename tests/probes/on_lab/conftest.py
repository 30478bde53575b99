"""A lab of three brokers and one ZooKeeper node, probes in processes of their own, and brokers that can be hurt."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from on_lab import inside

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.probes.worker.process import ProbeProcess
from chaosk.probes.worker.spec import spec_of
from chaosk.rundir.events.live import read_live
from chaosk.rundir.events.payload import decode
from chaosk.rundir.events.writer_reports import writer_of
from chaosk.spec.command import Command
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

LAB = "t4"
RUN = "run-1"
_WITHOUT_SESSIONS = {
    KafkaError.UNKNOWN, KafkaError.NOT_CONTROLLER, KafkaError.INVALID_REPLICA_ASSIGNMENT, KafkaError.REQUEST_TIMED_OUT,
    KafkaError._TIMED_OUT,
}  # fmt: skip
"""What making a topic ends in until the brokers have new sessions, a controller among them, and are all registered."""
_numbers = itertools.count(time.time_ns() // 10**9 % 100_000)


_SIGNAL = """\
read -r pid < /run/kafka/kafka.pid
kill -"$1" "$pid" || exit
[ "$1" = STOP ] || exit 0
for _ in $(seq 200); do
    grep -q "^State:.T" "/proc/$pid/status" && exit
    sleep 0.05
done
exit 1
"""


@dataclass
class Cluster:
    """The lab's cluster, and the probes that work on it."""

    inventory: Inventory
    hosts: Ssh
    folder: Path
    admin: AdminClient
    started: list[ProbeProcess] = field(default_factory=list)

    def topic(self, partitions: int = 3, without: int | None = None, only: int | None = None, **config: str) -> str:
        """Make a topic with replicas on all brokers but ``without``, or on ``only`` one; all have leaders."""
        name = f"probes-{next(_numbers)}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        on = [broker for broker in self.inventory.brokers if broker != without and only in {None, broker}]
        replicas = [[on[(first + place) % len(on)] for place in range(len(on))] for first in range(partitions)]
        new = NewTopic(name, partitions, replica_assignment=replicas, config=settings)
        self._create(new)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            leaders = self.leaders(name)
            if len(leaders) == partitions and min(leaders.values()) >= 0:
                return name
            time.sleep(0.1)
        raise AssertionError(f"{name}: no leaders")

    def _create(self, new: NewTopic) -> None:
        """Brokers that were all frozen have lost their sessions with ZooKeeper, and refuse until they have new ones.

        A client that has asked the old controller goes on asking it, so each try has a client of its own.
        """
        end = time.monotonic() + 60
        while True:
            admin = AdminClient({"bootstrap.servers": self.inventory.bootstrap_servers()})
            try:
                admin.create_topics([new])[new.topic].result(20)
            except TimeoutError:
                if time.monotonic() > end:
                    raise AssertionError(f"{new.topic}: no answer\n{self._complaints()}") from None
            except KafkaException as error:
                if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                    return
                if error.args[0].code() not in _WITHOUT_SESSIONS or time.monotonic() > end:
                    raise AssertionError(f"{new.topic}: {error}\n{self._complaints()}") from error
                time.sleep(0.5)
            else:
                return

    def leaders(self, topic: str) -> dict[int, int]:
        """By partition its leader."""
        found = self.admin.list_topics(topic, timeout=10).topics[topic].partitions
        return {number: partition.leader for number, partition in found.items()}

    def controller(self) -> int:
        """The broker that is the cluster's controller."""
        return int(self.admin.list_topics(timeout=10).controller_id)

    def coordinator(self, group: str) -> int:
        """The broker that coordinates a group."""
        return int(self.admin.describe_consumer_groups([group])[group].result(20).coordinator.id)

    def start(self, probe: Probe, name: str, incarnation: int = 0, **partitions: int) -> ProbeProcess:
        """Start a probe's process; ``partitions``: by topic how many, for a probe that has to know."""
        folder = self.folder / writer_of(name, incarnation)
        topics = {topic: Topic(partitions=number) for topic, number in partitions.items()}
        self.started.append(ProbeProcess(spec_of(probe, self.inventory, (RUN, name, incarnation), folder, topics)))
        return self.started[-1]

    def rows(self, table: str, name: str, incarnation: int = 0) -> list[dict[str, Any]]:
        """The rows of a table that a probe wrote."""
        path = self.folder / writer_of(name, incarnation) / f"{table}.arrows"
        return list(read_live(path).table.to_pylist()) if path.exists() else []

    def until_read(self, *readers: tuple[str, int], within: float = 60) -> None:
        """Wait until these incarnations have read all that the writer sent and that was acknowledged.

        Their own lag does not say so: it is up to the end of the last fetch, and of what is assigned just then.
        """
        sent = {row["seq"] for row in self.rows("sends", "writer") if row["outcome"] == "ok"}
        assert sent
        end = time.monotonic() + within
        while left := sent - {row["seq"] for name, number in readers for row in self.rows("reads", name, number)}:
            assert time.monotonic() < end, f"{len(left)} of {len(sent)} records are not read"
            time.sleep(0.2)

    def signal(self, broker: int, name: str) -> None:
        """Send a signal to a broker's process; one that is stopped has stopped when this returns.

        A thread of it has to be given a processor before it does: 0.7 s where many others want one.
        """
        self._run(broker, "sh", "-c", _SIGNAL, "signal", name)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """All brokers stopped, for a while."""
        for broker in self.inventory.brokers:
            self.signal(broker, "STOP")
        try:
            yield
        finally:
            for broker in self.inventory.brokers:
                self.signal(broker, "CONT")

    def missed(self, broker: int) -> None:
        """Wait until a killed broker's session has run out: until then it is listed, and :meth:`revive` takes that."""
        end = time.monotonic() + 60
        while broker in self.admin.list_topics(timeout=10).brokers:
            assert time.monotonic() < end, f"broker {broker} is still listed"
            time.sleep(0.2)

    def revive(self, broker: int) -> None:
        """Start a broker until it is back: its id is refused until the session of the killed one has run out."""
        end = time.monotonic() + 60
        while broker not in self.admin.list_topics(timeout=10).brokers:
            assert time.monotonic() < end, f"broker {broker} does not come back"
            self._run(broker, "/opt/kafka/bin/kafka-start")
            time.sleep(2)

    def written(self, topic: str) -> dict[int, list[tuple[int, int]]]:
        """By seq the places (partition, offset) of every record in the log, read by a plain consumer."""
        client = Consumer({
            "bootstrap.servers": self.inventory.bootstrap_servers(), "group.id": "plain", "enable.auto.commit": False,
        })  # fmt: skip
        places: dict[int, list[tuple[int, int]]] = {}
        for partition in self.leaders(topic):
            low, high = client.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
            client.assign([TopicPartition(topic, partition, low)])
            position = low
            while position < high:
                message = client.poll(10)
                assert message is not None
                assert message.error() is None, message.error()
                payload = decode(message.value(), RUN)
                assert payload is not None
                offset = message.offset()
                assert offset is not None
                places.setdefault(payload.seq, []).append((partition, offset))
                position = offset + 1
        client.close()
        return places

    def _complaints(self) -> str:
        """What the brokers have logged last that is no information."""
        told = []
        for number, broker in self.inventory.brokers.items():
            argv = ("sh", "-c", "tail -n 400 /var/log/kafka/server.log | grep -v ' INFO ' | tail -n 25")
            result = self.hosts.run(Command(host=broker.host, argv=argv, sudo=True, timeout=30.0))
            told.append(f"broker {number}: {result.stdout}{result.stderr}")
        return "\n".join(told)

    def _run(self, broker: int, *argv: str) -> None:
        host = self.inventory.brokers[broker].host
        result = self.hosts.run(Command(host=host, argv=argv, sudo=True, timeout=30.0))
        assert result.ok, result.stderr


def until(process: ProbeProcess, reached: Callable[[ProbeState], bool], within: float = 60) -> ProbeState:
    """Wait for a state of a probe."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if reached(process.state()):
            return process.state()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGUSR2)
    time.sleep(0.5)
    log = process.log.read_text("utf-8", "replace")
    raise AssertionError(f"not reached: {process.state()}\n{log[-8000:]}")


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Inventory:
    """The inventory of the lab, which is up for all tests of this folder."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append)
    loaded = load_inventory(lab.up(LabLayout(name=LAB, brokers=3, zookeepers=1), lines.append))
    assert isinstance(loaded, Inventory)
    return loaded


@pytest.fixture
def cluster(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Cluster]:
    """The lab's cluster from inside its network; afterwards every broker is awake and up, and no probe is left."""
    with inside(str(lab_inventory.network_namespace)):
        admin = AdminClient({"bootstrap.servers": lab_inventory.bootstrap_servers()})
        found = Cluster(lab_inventory, Ssh(lab_inventory.hosts), tmp_path, admin)
        yield found
        for process in found.started:
            if process.exit_status() is None:
                process.kill()
        for broker in lab_inventory.brokers:
            found.revive(broker)
        found.hosts.close()
