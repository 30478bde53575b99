"""A lab of these tests' own, so that they can run beside the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.spec.lab_layout import LabLayout

LAB = "run-gameday"
"""Name of the lab these tests put up."""


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Path:
    """The inventory of a lab with three brokers and three ZooKeeper nodes, up for all runs of these tests."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)
    return lab.up(LabLayout(name=LAB), lines.append)


@pytest.fixture
def rules_of(lab_inventory: Path) -> Callable[[str], str]:
    """The firewall's rules of a host, over SSH, without counters; a table without rules is as good as none."""
    from chaosk.document import load_inventory
    from chaosk.hosts.transport.ssh import Ssh
    from chaosk.lab.namespace import inside
    from chaosk.spec.command import Command
    from chaosk.spec.inventory import Inventory

    inventory = load_inventory(lab_inventory)
    assert isinstance(inventory, Inventory)
    saved = "{ iptables-save; ip6tables-save; nft list tables | grep chaosk; }"
    script = rf"{saved} | sed '/^[#*C]/d; /^:[A-Z]* ACCEPT/d; s/ \[.*//'"

    def rules(host: str) -> str:
        def work() -> str:
            transport = Ssh(inventory.hosts)
            try:
                return transport.run(Command(host=host, argv=("sh", "-c", script), sudo=True)).stdout
            finally:
                transport.close()

        return inside(f"chaosk-{LAB}", work)

    return rules
