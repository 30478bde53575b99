"""A mock cluster of librdkafka's, in this process, and probes at work in threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Address, Probe, Workplace

RUN = "run-1"


@dataclass
class Working:
    """A probe at work in a thread, and what it wrote."""

    folder: Path
    states: list[ProbeState] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _failed: list[BaseException] = field(default_factory=list)

    def start(
        self,
        probe: Probe,
        name: str,
        incarnation: int,
        client: dict[str, Any],
        brokers: Mapping[int, Address] = MappingProxyType({}),
    ) -> None:
        """Let it work until :meth:`end`; the topics of the mock cluster have four partitions."""

        def work() -> None:
            try:
                with LiveLog(self.folder) as log:
                    told = (self._stop.is_set, self.states.append)
                    probe.work(Workplace(RUN, name, incarnation, client, log, *told, brokers, {"orders": 4}))
            except BaseException as error:  # noqa: BLE001 - raised again in the test's thread
                self._failed.append(error)

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def until(self, reached: Callable[[ProbeState], bool], within: float = 20.0) -> ProbeState:
        """Wait for a state; fails with the last one."""
        end = time.monotonic() + within
        while time.monotonic() < end and not self._failed:
            if self.states and reached(self.states[-1]):
                return self.states[-1]
            time.sleep(0.02)
        raise AssertionError(f"not reached: {self.states[-1:]} {self._failed}")

    def wait(self, holds: Callable[[], bool], within: float = 30.0) -> None:
        """Wait until something holds of what it wrote."""
        end = time.monotonic() + within
        while not holds():
            assert time.monotonic() < end, f"not within {within:g} s: {self.states[-1:]}"
            assert not self._failed
            time.sleep(0.05)

    def end(self) -> None:
        """Tell it to end cleanly, wait, and raise what it raised."""
        self._stop.set()
        if self._thread:
            self._thread.join(60)
            assert not self._thread.is_alive()
        if self._failed:
            raise self._failed[0]

    def forget(self) -> None:
        """What it raised was looked at."""
        self._failed.clear()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, none if it was never written."""
        path = self.folder / f"{table}.arrows"
        return list(read_live(path).table.to_pylist()) if path.exists() else []


@pytest.fixture(scope="session")
def mock_cluster() -> Iterator[str]:
    """Bootstrap servers of a mock cluster; topics come into being with four partitions when they are named."""
    keeper = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "mock", "log_level": 2})
    brokers = keeper.list_topics("any", timeout=10).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del keeper


@pytest.fixture
def work(tmp_path: Path, mock_cluster: str) -> Iterator[Callable[..., Working]]:
    """Starts probes on the mock cluster; ends those that a test left running."""
    started: list[Working] = []

    def start(
        probe: Probe,
        name: str = "probe",
        incarnation: int = 0,
        brokers: Mapping[int, Address] = MappingProxyType({}),
        **client: Any,
    ) -> Working:
        working = Working(tmp_path / f"{name}-{incarnation}")
        working.start(probe, name, incarnation, {"bootstrap.servers": mock_cluster, "log_level": 2, **client}, brokers)
        started.append(working)
        return working

    yield start
    for working in started:
        working.end()
