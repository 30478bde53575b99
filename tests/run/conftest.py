"""Runs of the real command line against a real lab, as a user would start them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from chaosk import lab
from chaosk.cluster.client_settings import client_settings
from chaosk.document import load_inventory
from chaosk.lab.namespace import inside
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

LAB = "runs"
"""Name of the lab these tests put up."""


@dataclass
class Started:
    """A `chaosk run` under way, and what it printed so far."""

    process: subprocess.Popen[str]
    output: Path
    lines: list[str] = field(default_factory=list)

    def wait_for(self, text: str, within: float = 120.0) -> None:
        """Wait until it printed a line with ``text``."""
        end = time.monotonic() + within
        while not any(text in line for line in self.lines):
            if time.monotonic() > end or self.process.poll() is not None:
                pytest.fail(f"never printed {text!r}:\n" + "".join(self.lines))
            time.sleep(0.05)

    def finish(self, within: float = 600.0) -> int:
        """Its exit code, once it ended."""
        return self.process.wait(within)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    @property
    def text(self) -> str:
        """All it printed."""
        return "".join(self.lines)

    def rundir(self) -> Path:
        """The one run directory it made."""
        (found,) = self.output.glob("*/*")
        return found

    def read(self, name: str) -> Any:
        """A JSON document of its run directory."""
        return json.loads((self.rundir() / name).read_text("utf-8"))


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Path:
    """The inventory of a lab with three brokers and three ZooKeeper nodes, up for all runs of these tests."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)  # a killed run's JVM ends a moment later
    return lab.up(LabLayout(name=LAB), lines.append)


def whole(inventory: Path) -> bool:
    """Whether every replica of the lab is in sync: a run that is started before is refused."""
    found = load_inventory(inventory)
    assert isinstance(found, Inventory)
    settings: dict[str, Any] = {**client_settings(found), "log_level": 0}
    try:
        told = inside(found.network_namespace or "", lambda: AdminClient(settings).list_topics(timeout=5))
    except KafkaException:
        return False
    partitions = [each for topic in told.topics.values() for each in topic.partitions.values()]
    return all(sorted(each.isrs) == sorted(each.replicas) for each in partitions)


@pytest.fixture
def start(tmp_path: Path, lab_inventory: Path) -> Iterator[Callable[..., Started]]:
    """Starts `chaosk run` with a scenario's text; whatever still runs at the end is killed.

    Each run has a consumer group of its own: a group waits 45 s for a member that another test has killed. Replicas
    that a former test's fault has put out of sync have twenty seconds to come back.
    """
    running: list[Started] = []

    def begin(text: str, *arguments: str) -> Started:
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(text.replace("group: readers", f"group: readers-{secrets.token_hex(4)}"), "utf-8")
        output, end = tmp_path / "reports", time.monotonic() + 20
        while time.monotonic() < end and not whole(lab_inventory):
            time.sleep(0.5)
        command = [sys.executable, "-m", "chaosk", "run", str(scenario), "--inventory", str(lab_inventory)]
        process = subprocess.Popen(
            [*command, "--output", str(output), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        started = Started(process, output)
        threading.Thread(target=lambda: started.lines.extend(process.stdout or ()), daemon=True).start()
        running.append(started)
        return started

    yield begin
    alive = [each for each in running if each.process.poll() is None]
    for each in alive:
        each.process.kill()
        each.process.wait()
    for each in running:
        if each.process.stdout is not None:
            each.process.stdout.close()
    if alive:  # its lock and its faults would fail every test that follows
        halt = [sys.executable, "-m", "chaosk", "halt", "--inventory", str(lab_inventory)]
        subprocess.run(halt, capture_output=True, timeout=300, check=True)


@pytest.fixture
def on_host(lab_inventory: Path) -> Callable[..., str]:
    """Runs a command as root on a host of the lab, over SSH, and returns what it printed."""
    from chaosk.document import load_inventory
    from chaosk.hosts.transport.ssh import Ssh
    from chaosk.spec.command import Command
    from chaosk.spec.inventory import Inventory

    inventory = load_inventory(lab_inventory)
    assert isinstance(inventory, Inventory)

    def run(host: str, *argv: str) -> str:
        def work() -> str:
            transport = Ssh(inventory.hosts)
            try:
                result = transport.run(Command(host=host, argv=argv, sudo=True))
            finally:
                transport.close()
            assert result.ok, result.stderr
            return result.stdout

        from chaosk.lab.namespace import inside

        return inside(f"chaosk-{LAB}", work)

    return run
