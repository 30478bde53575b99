"""A lab of three brokers and three ZooKeeper nodes, entered for the time of a test, with brokers that can be hurt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from on_lab import inside

from chaosk import lab
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.topic_admin import delete_topics
from chaosk.cluster.topics import prepare
from chaosk.core.errors import ChaoskError
from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.run.audit.ranges import ranges
from chaosk.spec.command import Command
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

LAB = "t3"


@dataclass
class Cluster:
    """The lab's cluster and its hosts."""

    inventory: Inventory
    brokers: Brokers
    live: LiveCluster
    hosts: Ssh

    def prepare(self, **topics: Topic) -> tuple[str, ...]:
        """Make topics; dashes in names are written as underscores."""
        return prepare(self.brokers, {name.replace("_", "-"): topic for name, topic in topics.items()})

    def run(self, host: str, *argv: str) -> str:
        """Run a command as root on a host; what it printed."""
        result = self.hosts.run(Command(host=host, argv=argv, sudo=True, timeout=30.0))
        assert result.ok, result.stderr
        return result.stdout

    def wait(self, condition: str, within: float = 60.0) -> float:
        """Wait until a condition holds; how many seconds that took."""
        began = time.monotonic()
        seen = "never asked"
        while time.monotonic() - began < within:
            try:
                answer = parse_condition(condition).ask(self.live, self.inventory)
                seen = answer.seen
                if answer.holds:
                    return time.monotonic() - began
            except ChaoskError as error:
                seen = str(error)
            time.sleep(0.1)
        pytest.fail(f"{condition} did not come true in {within} s: {seen}")

    def decided(self, topic: str) -> None:
        """Wait until every transaction that was ended is: its coordinator answers before it writes the markers."""
        end = time.monotonic() + 30
        while any(one.last_stable < one.high_watermark for one in ranges(self.brokers, (topic,))):
            assert time.monotonic() < end
            time.sleep(0.05)

    @contextmanager
    def killed(self, broker: int) -> Iterator[None]:
        """A broker that is dead meanwhile; afterwards it is started, and its replicas are in sync again."""
        host = self.inventory.brokers[broker].host
        self.run(host, "sh", "-c", 'kill -KILL "$(cat /run/kafka/kafka.pid)"')
        try:
            yield
        finally:
            self.start(broker)
            self.whole()

    def start(self, broker: int) -> None:
        """Start a broker until it stays: ZooKeeper refuses its id until the session of the killed one has run out."""
        for _ in range(20):
            self.run(self.inventory.brokers[broker].host, "/opt/kafka/bin/kafka-start")
            for _ in range(30):
                if parse_condition(f"broker_up({broker})").ask(self.live, self.inventory).holds:
                    return
                time.sleep(0.1)

    @contextmanager
    def frozen(self, broker: int) -> Iterator[None]:
        """A broker whose process is stopped (SIGSTOP) meanwhile."""
        host = self.inventory.brokers[broker].host
        self.run(host, "sh", "-c", 'kill -STOP "$(cat /run/kafka/kafka.pid)"')
        try:
            yield
        finally:
            self.run(host, "sh", "-c", 'kill -CONT "$(cat /run/kafka/kafka.pid)"')
            self.whole()

    def whole(self) -> None:
        """Wait until every broker is up and every replica in sync."""
        for broker in self.inventory.brokers:
            self.wait(f"broker_up({broker})")
        for topic in {one.topic for one in self.brokers.views(None)[0].partitions}:
            self.wait(f"isr_full({topic})")


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Inventory:
    """The inventory of the lab, which is up for all tests of this folder."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append)
    loaded = load_inventory(lab.up(LabLayout(name=LAB), lines.append))
    assert isinstance(loaded, Inventory)
    return loaded


@pytest.fixture
def cluster(lab_inventory: Inventory) -> Iterator[Cluster]:
    """The lab's cluster, from inside its network; afterwards no topic of the test is left."""
    with inside(str(lab_inventory.network_namespace)):
        hosts = Ssh(lab_inventory.hosts)
        with Brokers(lab_inventory, client_settings(lab_inventory)) as brokers:
            yield Cluster(lab_inventory, brokers, LiveCluster(lab_inventory, brokers, _no_probe), hosts)
            known = brokers.views(None)[0].topic_ids
            delete_topics(brokers, {name: known[name] for name in known if not name.startswith("__")})
        hosts.close()


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], str]:
    """Names of folders that do not exist yet."""
    return lambda name: str(tmp_path / name)


def _no_probe(name: str) -> ProbeState:
    raise AssertionError(name)
