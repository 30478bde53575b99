"""A lab whose hosts and brokers can be spoilt, and the doctor as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab.namespace import inside
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

LAB = "doctor"
T = TypeVar("T")


@dataclass
class Ward:
    """The lab of these tests."""

    path: Path
    inventory: Inventory

    def chaosk(self, *words: str, inventory: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of chaosk on the lab, or with another inventory of it."""
        command = [sys.executable, "-m", "chaosk", *words, "--inventory", str(inventory or self.path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)

    def doctor(self, *words: str, inventory: Path | None = None) -> tuple[int, list[dict[str, Any]]]:
        """The exit code of `chaosk doctor`, and what it found."""
        done = self.chaosk("doctor", "--json", *words, inventory=inventory)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        assert found["fit"] == (done.returncode == 0)
        return done.returncode, found["findings"]

    def one(self, where: str, what: str, *words: str, inventory: Path | None = None) -> dict[str, Any]:
        """The one finding of that name that is not ok, with nothing else that is bad and the exit code that fits."""
        code, findings = self.doctor(*words, inventory=inventory)
        wrong = [one for one in findings if one["state"] != "ok" and (one["where"], one["what"]) == (where, what)]
        others = [one for one in findings if one["state"] == "bad" and one not in wrong]
        assert others == []
        assert len(wrong) == 1, findings
        assert code == (69 if wrong[0]["state"] == "bad" else 0)
        return wrong[0]

    def fit(self, within: float = 60.0) -> None:
        """Wait until the doctor has nothing to say against a run."""
        end = time.monotonic() + within
        while (found := self.doctor())[0] != 0:
            assert time.monotonic() < end, [one for one in found[1] if one["state"] == "bad"]
            time.sleep(1)

    def within(self, work: Callable[[], T]) -> T:
        """Do something from inside the lab's network."""
        return inside(str(self.inventory.network_namespace), work)

    def send(self, command: Command) -> Result:
        """Send a command to a host, over SSH."""

        def work() -> Result:
            hosts = Ssh(self.inventory.hosts)
            try:
                return hosts.run(command)
            finally:
                hosts.close()

        return self.within(work)

    def sh(self, host: str, text: str, *, sudo: bool = True) -> str:
        """Run a shell line on a host; what it printed."""
        result = self.send(Command(host=host, argv=("sh", "-c", text), sudo=sudo, timeout=60.0))
        assert result.ok, result.stderr
        return result.stdout

    @contextmanager
    def spoilt(self, host: str, spoil: str, mend: str) -> Iterator[None]:
        """Spoil a host, and mend it at the end, also if nobody can become root there any more.

        Who mends is a process of root that has been waiting for a file since before.
        """
        wait = f"until [ -e /tmp/mend ]; do sleep 0.1; done; {mend}; rm /tmp/mend"
        self.sh(host, f"rm -f /tmp/mend; setsid sh -c '{wait}' </dev/null >/dev/null 2>&1 & {spoil}")
        try:
            yield
        finally:
            self.sh(host, "touch /tmp/mend; while [ -e /tmp/mend ]; do sleep 0.1; done", sudo=False)

    def copy(self, path: Path, **changes: str) -> Path:
        """The inventory with some of its texts replaced, its files named absolutely."""
        text = self.path.read_text("utf-8")
        for name in ("client_key", "known_hosts"):
            text = text.replace(f": {name}\n", f": {self.path.parent / name}\n")
        for old, new in changes.items():
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
        return path


@pytest.fixture(scope="session")
def ward(while_folder_runs: ExitStack) -> Ward:
    """A lab of three brokers and three ZooKeeper nodes, up for all tests of this folder."""
    lines: list[str] = []
    # the analysis of a run that was killed may still be about to end
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)
    path = lab.up(LabLayout(name=LAB), lines.append)
    inventory = load_inventory(path)
    assert isinstance(inventory, Inventory)
    return Ward(path, inventory)
