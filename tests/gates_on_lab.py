"""What tests of gates on labs share: a scenario, what a gate leaves behind, and what it prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from on_lab import inside

from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.rundir.record import RunRecord
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory

CUT = """\
name: A short cut
hypothesis: It heals, and nothing is lost.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s, config: {acks: all}}}
baseline: 1s
settle: 2s
timeline:
  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 30s}
"""


def folder_of(place: Path) -> Path:
    """The one gate in a folder."""
    (found,) = place.iterdir()
    return found


def read_until(process: subprocess.Popen[str], *texts: str) -> None:
    """Read what it prints until there has been a line with each of these in it."""
    assert process.stdout is not None
    lines, missing = [], set(texts)
    for line in process.stdout:
        lines.append(line)
        missing -= {text for text in missing if text in line}
        if not missing:
            return
    pytest.fail(f"never printed {missing}:\n" + "".join(lines))


def records(folder: Path) -> list[RunRecord]:
    """How the runs of a gate went, those that are written to the end, oldest first."""
    texts = [each.read_text("utf-8") for each in sorted(folder.glob("runs/*/*/*/run.json"))]
    return [RunRecord.model_validate_json(text) for text in texts if text.endswith("}\n")]


def is_cut(inventory_file: Path) -> bool:
    """Whether the second host has a rule of chaosk's, looked up over SSH."""
    inventory = load_inventory(inventory_file)
    assert isinstance(inventory, Inventory)
    look = "{ iptables-save; nft list ruleset; } 2>/dev/null | grep -ci chaosk || true"
    with inside(inventory.network_namespace or ""):
        transport = Ssh(inventory.hosts)
        try:
            done = transport.run(Command(host="node2", argv=("sh", "-c", look), sudo=True))
        finally:
            transport.close()
    assert done.ok, done.stderr
    return int(done.stdout) > 0


def end(started: list[subprocess.Popen[str]]) -> None:
    """Kill what still runs of these gates."""
    for each in started:
        if each.poll() is None:
            each.kill()
            each.wait()
        if each.stdout is not None:
            each.stdout.close()
